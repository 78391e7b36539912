// Prints failures with their reasons and the number of passed tests, and nothing else: a run has thousands of tests.
import { inspect } from 'node:util';

type TestEvent = {
  readonly type: string;
  readonly data: {
    readonly name?: string;
    readonly file?: string;
    readonly line?: number;
    readonly nesting?: number;
    readonly skip?: string | boolean;
    readonly todo?: string | boolean;
    readonly message?: string;
    readonly details?: { readonly type?: string; readonly error?: Error & { cause?: unknown } };
  };
};

export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let [passed, failed, skipped] = [0, 0, 0];
  for await (const { type, data } of source) {
    const isSuite = data.details?.type === 'suite';
    if (type === 'test:pass' && !isSuite) {
      if (data.skip) {
        skipped++;
        yield `skipped: ${data.name}${typeof data.skip === 'string' ? ` (${data.skip})` : ''}\n`;
      } else passed++;
    }
    if (type === 'test:fail' && !isSuite) {
      failed++;
      const { error } = data.details ?? {};
      yield `\nFAILED ${data.name} (${data.file}:${data.line})\n${inspect(error?.cause ?? error, { depth: 6 })}\n`;
    }
    // Skipped tests are always reported.
    if (type === 'test:diagnostic' && /^(left out|not compared)/i.test(data.message ?? '')) yield `${data.message}\n`;
  }
  yield `\n${passed} passed, ${failed} failed, ${skipped} skipped\n`;
}
