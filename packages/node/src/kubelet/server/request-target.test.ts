import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { accessOf } from './access.ts';
import { createKubeletHandler } from './handler.ts';
import { parseRequestTarget, type RequestTarget } from './request-target.ts';
import { KubeletError, type KubeletView } from './view.ts';

const goodRows: readonly (readonly [path: string, segments: readonly string[]])[] = [
  ['/', []],
  ['/metrics', ['metrics']],
  ['/logs/', ['logs']],
  ['/logs/deep/my%20file', ['logs', 'deep', 'my file']],
  ['/logs/..data', ['logs', '..data']],
  ['/healthz?verbose&x=/../exec', ['healthz']],
];
for (const [path, segments] of goodRows) {
  test(`${path} has the segments [${segments.join(', ')}]`, () => {
    assert.deepEqual(parseRequestTarget(path).segments, segments);
  });
}

const badRows: readonly (readonly [why: string, path: string])[] = [
  ['a dot segment', '/metrics/./resource'],
  ['a segment of two dots', '/metrics/../exec/default/web/c'],
  ['encoded dots', '/metrics/%2e%2E/exec/default/web/c'],
  ['dots at the end', '/metrics/..'],
  ['half encoded dots', '/metrics/.%2e/exec/default/web/c'],
  ['an empty segment', '/metrics//resource'],
  ['an empty first segment', '//exec/default/web/c'],
  ['two slashes at the end', '/logs//'],
  ['an encoded slash', '/logs/..%2f..%2fetc%2fshadow'],
  ['a backslash', '/metrics/..\\exec'],
  ['an encoded backslash', '/metrics/..%5cexec'],
  ['a null character', '/logs/x%00'],
  ['a bad escape', '/logs/%zz'],
  ['bytes that are not UTF-8', '/logs/%ff'],
  ['an absolute URL', 'http://other/metrics'],
  ['no path', '*'],
];
for (const [why, path] of badRows) {
  test(`a path with ${why} is rejected`, () => {
    assert.throws(
      () => parseRequestTarget(path),
      (error) => error instanceof KubeletError && error.code === 400,
    );
  });
}

/** Records which parts of the kubelet a handler uses, and fails there. */
function recordingView(): { readonly view: KubeletView; readonly reached: Set<string> } {
  const reached = new Set<string>();
  const view = new Proxy({} as KubeletView, {
    get(_, name) {
      reached.add(String(name));
      throw new KubeletError(404, `reached ${String(name)}`);
    },
  });
  return { view, reached };
}

const endpoints = [
  'metrics',
  'exec',
  'run',
  'attach',
  'portForward',
  'containerLogs',
  'logs',
  'pods',
  'stats',
] as const;
const piece = fc.oneof(
  fc.constantFrom(...endpoints, 'runningpods', 'configz', 'checkpoint', 'healthz', 'summary', 'default', 'web', 'c'),
  fc.constantFrom(
    '.',
    '..',
    '',
    '%2e',
    '%2e%2e',
    '.%2E',
    '%2f',
    '%5c',
    '\\',
    '..%2f',
    '%00',
    ';',
    '#',
    '?',
    '@',
    'a:b',
  ),
  fc.string({ maxLength: 4 }),
);
const anyPath = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => `/${pieces.join('/')}`);

/** Parts of the kubelet that a permission on one subresource may reach. */
const parts: { readonly [subresource: string]: readonly string[] } = {
  metrics: ['metrics', 'probeMetrics', 'runtime', 'workers', 'machine', 'clock', 'nodeName'],
  stats: ['runtime', 'workers', 'machine', 'clock', 'nodeName', 'startedAt', 'settings'],
  log: ['runtime'],
  pods: ['workers'],
  healthz: [],
  configz: ['configuration'],
  checkpoint: ['find'],
};

test('the authorized target is the dispatched target', async () => {
  await fc.assert(
    fc.asyncProperty(anyPath, fc.constantFrom('GET', 'POST', 'HEAD', 'PUT'), async (path, method) => {
      let target: RequestTarget;
      try {
        target = parseRequestTarget(path);
      } catch (error) {
        assert.ok(error instanceof KubeletError && error.code === 400);
        return;
      }
      const { subresources } = accessOf(method, target);
      const { view, reached } = recordingView();
      const { signal } = new AbortController();
      await createKubeletHandler(view).send({ method, target, headers: {}, signal });
      await createKubeletHandler(view)
        .upgrade({ method, target, headers: {}, signal }, undefined as never)
        .catch((error: unknown) => assert.ok(error instanceof KubeletError));
      for (const subresource of subresources.filter((each) => each !== 'proxy')) {
        for (const part of reached) assert.ok(parts[subresource]?.includes(part), `${path} reached ${part}`);
      }
    }),
    { numRuns: 5000 },
  );
});
