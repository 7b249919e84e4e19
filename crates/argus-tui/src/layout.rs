//! Where the panes are. Used by the state, which scrolls, and by the view, which draws.

use ratatui::layout::Rect;

/// What can be in focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    Tasks,
    Arguments,
    Tensor,
}

/// A pane with its border, and what is inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PaneArea {
    pub outer: Rect,
    pub inner: Rect,
}

/// Areas without room are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    pub head: Rect,
    pub tasks: PaneArea,
    pub arguments: PaneArea,
    pub tensor: PaneArea,
    /// Messages, prompts and progress.
    pub status: Rect,
    pub keys: Rect,
}

/// Three panes need so much room; otherwise only the one in focus is there.
const THREE: (u16, u16) = (72, 16);

impl Layout {
    pub fn new(area: Rect, focus: Pane, zoomed: bool) -> Layout {
        let mut layout = Layout::default();
        let mut body = area;
        if area.height >= 5 {
            layout.head = Rect { height: 1, ..area };
            layout.status = Rect { y: area.y + area.height - 2, height: 1, ..area };
            body = Rect { y: area.y + 1, height: area.height - 3, ..area };
        } else if area.height >= 3 {
            body.height -= 1;
        }
        if area.height >= 3 {
            layout.keys = Rect { y: area.y + area.height - 1, height: 1, ..area };
        }
        if zoomed || body.width < THREE.0 || body.height < THREE.1 {
            let place = PaneArea::new(body);
            match focus {
                Pane::Tasks => layout.tasks = place,
                Pane::Arguments => layout.arguments = place,
                Pane::Tensor => layout.tensor = place,
            }
            return layout;
        }
        let left = (body.width * 3 / 8).clamp(28, 56);
        let above = (body.height / 3).clamp(5, 14);
        let right = Rect { x: body.x + left, width: body.width - left, ..body };
        layout.tasks = PaneArea::new(Rect { width: left, ..body });
        layout.arguments = PaneArea::new(Rect { height: above, ..right });
        layout.tensor = PaneArea::new(Rect { y: right.y + above, height: right.height - above, ..right });
        layout
    }

    /// Rows of tasks that are visible.
    pub fn task_rows(&self) -> usize {
        usize::from(self.tasks.inner.height)
    }

    /// Rows of arguments that are visible; the first line names the columns.
    pub fn argument_rows(&self) -> usize {
        usize::from(self.arguments.inner.height.saturating_sub(1))
    }

    /// The tensor pane without the line of facts above and the line of the cursor below.
    pub fn sheet(&self) -> Rect {
        let inner = self.tensor.inner;
        if inner.height < 3 {
            return inner;
        }
        Rect { y: inner.y + 1, height: inner.height - 2, ..inner }
    }
}

impl PaneArea {
    /// With a border if there is room for one.
    fn new(outer: Rect) -> PaneArea {
        if outer.width < 12 || outer.height < 5 {
            return PaneArea { outer, inner: outer };
        }
        let (x, y) = (outer.x + 1, outer.y + 1);
        PaneArea { outer, inner: Rect { x, y, width: outer.width - 2, height: outer.height - 2 } }
    }

    pub fn bordered(&self) -> bool {
        self.inner != self.outer
    }
}
