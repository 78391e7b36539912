import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingForContainerd } from './containerd.ts';

/**
 * Defines tests that need a real containerd. They are skipped with a diagnostic where it is missing, and fail in CI.
 */
export function onContainerd(title: string, define: (title: string) => void): void {
  const missing = missingForContainerd();
  if (missing === undefined) define(title);
  else {
    test(title, (context) => {
      assert(!process.env['CI'], `${missing} is not installed`);
      context.diagnostic(`SKIPPED: containerd needs ${missing}`);
    });
  }
}
