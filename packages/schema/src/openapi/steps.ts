/**
 * Work in steps of a few milliseconds: a generator that yields between them, and returns the result. The caller decides
 * what runs in between, because documents of a whole API take a tenth of a second.
 */
export type Steps<T> = Generator<undefined, T, undefined>;

/**
 * Runs all steps at once.
 *
 * ```ts
 * const document = runSteps(buildOpenApiV2([{ kind: pod, subresources: [] }], vocabulary));
 * ```
 */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
