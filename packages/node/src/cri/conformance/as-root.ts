import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

/** Defines tests that need root on Linux, to mount or to change owners. Elsewhere they are skipped; CI fails. */
export function asRoot(title: string, define: () => void): void {
  if (process.platform === 'linux' && process.getuid?.() === 0) describe(title, define);
  else {
    test(title, (context) => {
      assert(!process.env['CI'], 'these tests need root on Linux');
      context.diagnostic('LEFT OUT: needs root on Linux');
    });
  }
}
