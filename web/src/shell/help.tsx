// What the keyboard does here.

import { meanings, useKeys, written } from "./keys.ts";

export function Help(props: { close: () => void }) {
  useKeys("Keys", [{ keys: ["Escape", "?", "Enter"], about: "close", run: props.close }], true);
  return (
    <div class="curtain" onClick={props.close}>
      <div class="help" role="dialog" aria-label="keys" onClick={event => event.stopPropagation()}>
        {meanings().map(layer => (
          <section key={layer.title}>
            <h2>{layer.title}</h2>
            <dl>
              {layer.bindings.map(binding => (
                <div key={binding.about}>
                  <dt>{written(binding.keys).map(key => <kbd key={key}>{key}</kbd>)}</dt>
                  <dd>{binding.about}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </div>
  );
}
