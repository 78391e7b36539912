/**
 * A controller that is aborted with the first of some signals, unless it is by itself before. Whoever is done with it
 * aborts it, and the signals let go of it; with the last of them it can be collected. What `AbortSignal.any` makes is
 * held by Node, with all that listens to it, until one of its signals is aborted, though nobody else has any of them.
 */
export function linkedController(...signals: readonly AbortSignal[]): AbortController {
  const controller = new AbortController();
  const aborted = signals.find((signal) => signal.aborted);
  if (aborted) {
    controller.abort(aborted.reason);
    return controller;
  }
  const links = signals.map((signal) => ({ signal, abort: () => controller.abort(signal.reason) }));
  for (const { signal, abort } of links) signal.addEventListener('abort', abort);
  const unlink = () => {
    for (const { signal, abort } of links) signal.removeEventListener('abort', abort);
  };
  controller.signal.addEventListener('abort', unlink, { once: true });
  return controller;
}
