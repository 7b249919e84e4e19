import { render } from "preact";
import { App } from "./shell/app.tsx";
import "uplot/dist/uPlot.min.css";
import "./app.css";

render(<App />, document.getElementById("page")!);
