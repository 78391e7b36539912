import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeContainer, makePod, type PodFixture, sidecar, statusOf } from '../fixtures.ts';
import { type PhaseInputs, phaseOf } from './phase.ts';

const two = [makeContainer('a'), makeContainer('b')];
const init = { initContainers: [makeContainer('i')], containers: [makeContainer('c')] };
const withSidecar = { initContainers: [sidecar('s')], containers: [makeContainer('c')] };

type Row = {
  readonly name: string;
  readonly pod?: PodFixture;
  readonly statuses: { readonly [name: string]: string };
  readonly facts?: Partial<PhaseInputs>;
  readonly phase: string;
};

const rows: Row[] = [
  { name: 'a Pod without container statuses is pending', statuses: {}, phase: 'Pending' },
  { name: 'a Pod with a waiting container is pending', statuses: { c: 'waiting' }, phase: 'Pending' },
  {
    name: 'a Pod with one of two containers running is pending',
    pod: { containers: two },
    statuses: { a: 'running', b: 'waiting' },
    phase: 'Pending',
  },
  {
    name: 'a Pod with a container of unknown state is pending',
    pod: { containers: two },
    statuses: { a: 'running', b: 'nothing' },
    phase: 'Pending',
  },
  { name: 'a Pod whose containers run is running', statuses: { c: 'running' }, phase: 'Running' },
  {
    name: 'a Pod with one of two containers exited is running',
    pod: { containers: two, restartPolicy: 'Never' },
    statuses: { a: 'running', b: 'exit 1' },
    phase: 'Running',
  },
  {
    name: 'a Pod whose container waits to be restarted is running',
    statuses: { c: 'waiting after 1' },
    phase: 'Running',
  },
  { name: 'a Pod whose container has exited but will restart is running', statuses: { c: 'exit 0' }, phase: 'Running' },
  {
    name: 'a Pod that failed but will restart is running',
    pod: { restartPolicy: 'OnFailure' },
    statuses: { c: 'exit 1' },
    phase: 'Running',
  },
  {
    name: 'a Pod whose containers have exited with 0 has succeeded',
    pod: { restartPolicy: 'OnFailure' },
    statuses: { c: 'exit 0' },
    phase: 'Succeeded',
  },
  {
    name: 'a Pod with restartPolicy Never and a failure has failed',
    pod: { restartPolicy: 'Never' },
    statuses: { c: 'exit 3' },
    phase: 'Failed',
  },
  {
    name: 'one failure among successes is a failure',
    pod: { restartPolicy: 'Never', containers: two },
    statuses: { a: 'exit 0', b: 'exit 1' },
    phase: 'Failed',
  },
  {
    name: 'a terminated Pod whose containers exited with 0 has succeeded',
    statuses: { c: 'exit 0' },
    facts: { isEnding: true },
    phase: 'Succeeded',
  },
  {
    name: 'a terminated Pod whose containers were killed has failed',
    statuses: { c: 'exit 137' },
    facts: { isEnding: true },
    phase: 'Failed',
  },
  {
    name: 'a terminated static Pod keeps its phase',
    statuses: { c: 'exit 0' },
    facts: { isEnding: true, isStatic: true },
    phase: 'Running',
  },
  {
    name: 'a running init container keeps a Pod pending',
    pod: init,
    statuses: { i: 'running', c: 'waiting' },
    phase: 'Pending',
  },
  {
    name: 'an init container that failed is retried',
    pod: init,
    statuses: { i: 'waiting after 1', c: 'waiting' },
    phase: 'Pending',
  },
  {
    name: 'an init container that fails with restartPolicy Never fails the Pod',
    pod: { ...init, restartPolicy: 'Never' },
    statuses: { i: 'exit 1', c: 'waiting' },
    phase: 'Failed',
  },
  {
    name: 'a sidecar that has not started keeps a Pod pending',
    pod: withSidecar,
    statuses: { s: 'running', c: 'waiting' },
    phase: 'Pending',
  },
  {
    name: 'a restarting sidecar leaves an initialized Pod running',
    pod: withSidecar,
    statuses: { s: 'waiting after 1', c: 'running' },
    facts: { hasInitialized: true },
    phase: 'Running',
  },
  {
    name: 'a sidecar that never started keeps a Pod pending',
    pod: withSidecar,
    statuses: { s: 'waiting', c: 'running' },
    facts: { hasInitialized: true },
    phase: 'Pending',
  },
  {
    name: 'the exit code of a sidecar does not matter',
    pod: { ...withSidecar, restartPolicy: 'Never' },
    statuses: { s: 'exit 137', c: 'exit 0' },
    phase: 'Succeeded',
  },
];

for (const { name, pod, statuses, facts, phase } of rows) {
  test(name, () => {
    const all = Object.entries(statuses).map(([container, words]) => statusOf(container, words));
    const defaults = { statuses: all, isEnding: false, hasInitialized: false, isStatic: false };
    assert.equal(phaseOf(makePod(pod), { ...defaults, ...facts }), phase);
  });
}
