/**
 * Returns an AbortController that is aborted with the first of the signals. Callers abort it when they are done, which
 * removes its listeners, so that it can be garbage-collected. In contrast, Node keeps the result of `AbortSignal.any`
 * and its listeners alive until one of its signals is aborted.
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
