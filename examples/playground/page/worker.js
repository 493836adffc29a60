// Runs the module apart from the page: an input that takes long, or ends the module, does not stop
// the page.
import init, { explain, version } from "./urlspool.js";

const ready = init().then(() => postMessage({ version: version() }));

onmessage = async ({ data }) => {
  try {
    await ready;
    const begun = performance.now();
    const json = explain(data.bytes, data.strict);
    postMessage({ id: data.id, json, ms: performance.now() - begun });
  } catch (error) {
    postMessage({ id: data.id, error: String(error) });
  }
};
ready.catch((error) => postMessage({ error: String(error) }));
