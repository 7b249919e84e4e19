// Starts a report: its script lies packed in the same file.

import { inflate } from "./wire/inflate.ts";

void new Response(inflate(document.getElementById("packed")!.textContent!)).text().then(code => {
  const script = document.createElement("script");
  script.textContent = code;
  document.body.append(script);
});
