import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

/** Defines tests that need root on Linux, to mount or to change owners. They are skipped elsewhere, and fail in CI. */
export function asRoot(title: string, define: () => void): void {
  if (process.platform === 'linux' && process.getuid?.() === 0) describe(title, define);
  else {
    test(title, (context) => {
      assert(!process.env['CI'], 'these tests need root on Linux');
      context.diagnostic('SKIPPED: needs root on Linux');
    });
  }
}
