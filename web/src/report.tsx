// The page of `find --html`: one file that holds its answers, so that it needs no server.

import { render } from "preact";
import { App } from "./shell/app.tsx";
import { shared } from "./views.tsx";
import { embedded } from "./wire/embedded.ts";
import { answeredBy } from "./wire/source.ts";
import "./app.css";

answeredBy(embedded("answers"));
render(<App views={shared} parts={{}} />, document.getElementById("page")!);
