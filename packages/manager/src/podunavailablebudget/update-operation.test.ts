import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { operationOf } from './update-operation.ts';

type Traits = {
  readonly labels?: { readonly [key: string]: string };
  readonly annotations?: { readonly [key: string]: string };
  readonly main?: Partial<Container>;
  readonly spec?: Partial<NonNullable<Pod['spec']>>;
};

const requests = { cpu: '1', memory: '1Gi' };
const podOf = ({ labels = {}, annotations = {}, main = {}, spec = {} }: Traits = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', labels, annotations },
  spec: { containers: [{ name: 'main', image: 'app:v1', resources: { requests }, ...main }], ...spec },
});
const resized = (changes: { readonly [name: string]: string }, more: Partial<Container> = {}): Traits => ({
  main: { resources: { requests: { ...requests, ...changes } }, ...more },
});
const unavailable = { 'unavailable-pod.kruise.io/x': '' };
const restarting = (resourceName: string) => ({ resizePolicy: [{ resourceName, restartPolicy: 'RestartContainer' }] });
const fromFile = { 'kubernetes.io/config.source': 'file' };

const cases: readonly (readonly [of: string, old: Traits, updated: Traits, is: string | undefined])[] = [
  ['other labels', {}, { labels: { app: 'x' } }, undefined],
  ['annotations', {}, { annotations: { app: 'x' } }, undefined],
  ['the mark of an unavailable Pod', {}, { labels: unavailable }, 'UPDATE'],
  [
    'nothing but another such mark',
    { labels: unavailable },
    { labels: { ...unavailable, 'unavailable-pod.kruise.io/y': '' } },
    undefined,
  ],
  ['such a label that is removed', { labels: unavailable }, {}, undefined],
  ['an image', {}, { main: { image: 'app:v2' } }, 'UPDATE'],
  ['tolerations', {}, { spec: { tolerations: [{ operator: 'Exists' }] } }, 'UPDATE'],
  ['requests', {}, resized({ cpu: '2' }), 'RESIZE'],
  ['requests and an image', {}, resized({ cpu: '2' }, { image: 'app:v2' }), 'UPDATE'],
  ['requests and such a mark', {}, { ...resized({ cpu: '2' }), labels: unavailable }, 'UPDATE'],
  ['requests written in another way', {}, resized({ cpu: '1000m' }), 'RESIZE'],
  ['the quality of service', {}, { main: { resources: { requests, limits: requests } } }, 'UPDATE'],
  ['an added storage request', {}, resized({ 'ephemeral-storage': '1Gi' }), 'UPDATE'],
  ['a removed storage request', resized({ 'ephemeral-storage': '1Gi' }), {}, 'UPDATE'],
  [
    'requests of a Pod from a file',
    { annotations: fromFile },
    { ...resized({ cpu: '2' }), annotations: fromFile },
    'UPDATE',
  ],
  [
    'requests that need a restart',
    { main: { resources: { requests }, ...restarting('cpu') } },
    resized({ cpu: '2' }, restarting('cpu')),
    'UPDATE',
  ],
  [
    'requests of which others need a restart',
    { main: { resources: { requests }, ...restarting('memory') } },
    resized({ cpu: '2' }, restarting('memory')),
    'RESIZE',
  ],
];
for (const [of, old, updated, is] of cases) {
  test(`a change of ${of} is ${is ?? 'ignored'}`, () => {
    assert.equal(operationOf(podOf(old), podOf(updated)), is);
  });
}
