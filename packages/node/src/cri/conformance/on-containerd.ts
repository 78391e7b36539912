import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingForContainerd } from './containerd.ts';

/** Defines tests that need a real containerd. Where there can be none they are left out, and that is told; CI fails. */
export function onContainerd(title: string, define: (title: string) => void): void {
  const missing = missingForContainerd();
  if (missing === undefined) define(title);
  else {
    test(title, (context) => {
      assert(!process.env['CI'], `${missing} is not here`);
      context.diagnostic(`LEFT OUT: without ${missing} there is no containerd`);
    });
  }
}
