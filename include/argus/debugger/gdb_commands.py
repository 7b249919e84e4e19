"""Commands for gdb in a kernel that was compiled for it: tiles and tensors as matrices."""

import gdb


def show(function, address, rows, cols):
    """What the engine says of an address, on the core that the selected frame runs on."""
    frame = gdb.selected_frame()
    symbol = None
    # Every kernel object has the function; the one of the kernel itself knows the core.
    while frame is not None and symbol is None:
        code = frame.function()
        if code is not None:
            symbol = code.symtab.objfile.lookup_global_symbol(function)
        frame = frame.older()
    if symbol is None:
        raise gdb.GdbError("no kernel is on this stack: stop in one, or select its thread")
    return symbol.value()(address, rows, cols).string(errors="replace")


class Matrix(gdb.Command):
    """What both commands share: an expression, and how much of it to show."""

    def __init__(self, name, function):
        super().__init__(name, gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)
        self.name, self.function = name, function

    def invoke(self, text, from_tty):
        words = gdb.string_to_argv(text)
        sizes = []
        while len(words) > 1 and len(sizes) < 2 and words[-1].isdigit():
            sizes.insert(0, int(words.pop()))
        if not words:
            raise gdb.GdbError(f"usage: {self.name} EXPRESSION [ROWS [COLUMNS]]")
        rows, cols = (sizes + [16, 16])[:2]
        try:
            address = self.address(gdb.parse_and_eval(" ".join(words)))
            print(show(self.function, address, rows, cols))
        except gdb.error as error:
            raise gdb.GdbError(f"{self.name}: {error}")


class Tile(Matrix):
    """tile EXPRESSION [ROWS [COLUMNS]]: the valid region of a tile as a matrix, 16 x 16 elements of it by default."""

    def address(self, value):
        kind = value.type.strip_typedefs()
        if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_PTR):
            value = value.referenced_value()
        return value["tile"].address


class Tensor(Matrix):
    """tensor EXPRESSION [ROWS [COLUMNS]]: a tensor of the kernel's arguments as a matrix, as in: tensor args[0]"""

    def address(self, value):
        kind = value.type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_REF:
            value = value.referenced_value()
        if value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
            value = value.address
        return value.cast(gdb.lookup_type("void").pointer())


class TilePrinter:
    """A tile in one line, where gdb prints variables."""

    SPACES = ["Vec", "Mat", "Left", "Right", "Acc", "Bias", "Scaling", "ScaleLeft", "ScaleRight", "Ctrl"]

    def __init__(self, value):
        self.value = value

    def to_string(self):
        tile = self.value["tile"]
        kind = self.value.type.strip_typedefs()
        element, rows, cols = (kind.template_argument(at) for at in (1, 2, 3))
        if (int(tile["rows"]), int(tile["cols"])) != (int(rows), int(cols)):
            return "a tile that is not constructed yet"
        space = self.SPACES[int(tile["space"])]
        place = f"at {int(tile['addr']):#x}" if int(tile["assigned"]) else "without an address"
        valid = f"valid {int(tile['valid_rows'])} x {int(tile['valid_cols'])}"
        return f"{space} tile {place}, {element} {int(rows)} x {int(cols)}, {valid}"


def printer(value):
    name = value.type.strip_typedefs().name or ""
    return TilePrinter(value) if name.startswith("pto::Tile<") else None


gdb.pretty_printers.append(printer)
Tile("tile", "argus_show_tile")
Tensor("tensor", "argus_show_tensor")
