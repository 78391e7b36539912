/** Tables of shell scripts, each run in a container with all tools. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type SimulatedNode, simulatedNode } from './simulated-node.ts';

/** A script, its output, and its exit code if that is not 0. */
export type ScriptRow = readonly [script: string, stdout: string, exitCode?: number];

export type ScriptTables = {
  readonly node: SimulatedNode;
  /** Runs a script in the container. */
  sh(script: string): ReturnType<SimulatedNode['sh']>;
  rows(name: string, cases: readonly ScriptRow[]): void;
};

export function scriptTables(): ScriptTables {
  const node = simulatedNode();
  let containerId: string;
  before(async () => {
    ({ containerId } = await node.runContainer({ image: 'debian', command: ['sleep', 'infinity'] }));
  });
  const sh = (script: string) => node.sh(containerId, script);
  return {
    node,
    sh,
    rows(name, cases) {
      describe(name, () => {
        for (const [script, stdout, exitCode = 0] of cases) {
          test(script, async () => {
            const result = await sh(script);
            assert.deepEqual({ stdout: result.stdout, exitCode: result.exitCode }, { stdout, exitCode }, result.stderr);
          });
        }
      });
    },
  };
}
