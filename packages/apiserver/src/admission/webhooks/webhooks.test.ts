import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type MutatingWebhook,
  mutatingWebhookConfiguration,
} from '@kruise/api/admissionregistration/mutatingwebhookconfiguration';
import { validatingWebhookConfiguration } from '@kruise/api/admissionregistration/validatingwebhookconfiguration';
import { customResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { namespace } from '@kruise/api/core/namespace';
import { pod } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import type { Client } from '@kruise/client/client';
import { StatusError } from '@kruise/machinery/status';
import { systemClock } from '@kruise/values/system';
import { inProcessTransport } from '../../pipeline/in-process.ts';
import { writeOf } from '../../testing/admission.ts';
import { startTestServer, testAdmin } from '../../testing/test-server.ts';
import { type Handler, startWebhookServer, type WebhookServer } from '../../testing/webhook-server.ts';
import { createWebhookCaller } from '../../webhook/caller.ts';
import { hooksOf } from './hooks.ts';
import { callWebhook } from './review.ts';

const configMapRule = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  resources: ['configmaps'],
};

/** Creates a webhook for ConfigMaps; `more` overrides fields. */
const hook = (server: WebhookServer | string, more: object = {}) => ({
  name: 'hook.example.com',
  clientConfig: typeof server === 'string' ? { url: server } : { url: `${server.url}/hook`, caBundle: server.caBundle },
  rules: [configMapRule],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...more,
});

const labelled = (name: string, webhooks: readonly object[]) => ({ metadata: { name }, webhooks }) as never;
const object = (data: { [key: string]: string } = {}, metadata: object = {}) =>
  ({ metadata: { name: 'c', namespace: 'default', ...metadata }, data }) as unknown as ConfigMap;

async function cluster() {
  const server = await startTestServer();
  await server.client.create(namespace, { metadata: { name: 'default' } } as never).catch(() => {});
  return server;
}

const mutatedBy = (client: Client, ...webhooks: object[]) =>
  client.create(mutatingWebhookConfiguration, labelled('m', webhooks));
const validatedBy = (client: Client, ...webhooks: object[]) =>
  client.create(validatingWebhookConfiguration, labelled('v', webhooks));

/** Returns the created object, or the Status of the failure. */
async function outcome(create: Promise<unknown>): Promise<unknown> {
  try {
    return await create;
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error));
    return error.status;
  }
}

test('a mutating webhook changes the stored object', async () => {
  await using hooks = await startWebhookServer(() => ({
    allowed: true,
    patch: [{ op: 'add', path: '/data/added', value: 'yes' }],
  }));
  await using server = await cluster();
  await mutatedBy(server.client, hook(hooks));
  const { data } = await server.client.create(configMap, object({ own: 'x' }));
  assert.deepEqual(data, { own: 'x', added: 'yes' });
});

test('a webhook receives the complete request', async () => {
  await using hooks = await startWebhookServer(() => ({ allowed: true }));
  await using server = await cluster();
  await validatedBy(server.client, hook(hooks, { timeoutSeconds: 3 }));
  await server.client.create(configMap, object({ a: 'b' }));
  const [{ path, version, request }] = hooks.requests as [WebhookServer['requests'][number]];
  assert.equal(path, '/hook?timeout=3s');
  assert.equal(version, 'admission.k8s.io/v1');
  const { uid, object: sent, userInfo, options, ...rest } = request;
  assert.match(uid, /^[0-9a-f-]{36}$/);
  assert.deepEqual((sent as ConfigMap).data, { a: 'b' });
  assert.deepEqual(userInfo, { username: 'test-admin', groups: ['system:masters', 'system:authenticated'] });
  assert.deepEqual(options, { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' });
  assert.deepEqual(rest, {
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
    requestResource: { group: '', version: 'v1', resource: 'configmaps' },
    name: 'c',
    namespace: 'default',
    operation: 'CREATE',
    oldObject: null,
    dryRun: false,
  });
});

test('updates and deletes include the old object', async () => {
  await using hooks = await startWebhookServer(() => ({ allowed: true }));
  await using server = await cluster();
  await server.client.create(configMap, object({ a: '1' }));
  await validatedBy(server.client, hook(hooks));
  await server.client.patch(configMap, { name: 'c', namespace: 'default' }, { data: { a: '2' } }, { type: 'merge' });
  await server.client.delete(configMap, { name: 'c', namespace: 'default' });
  const dataOf = (shown: unknown) => (shown as ConfigMap | null)?.data ?? null;
  const seen = hooks.requests.map(({ request }) => [
    request['operation'],
    dataOf(request['oldObject']),
    dataOf(request['object']),
  ]);
  assert.deepEqual(seen, [
    ['UPDATE', { a: '1' }, { a: '2' }],
    ['DELETE', { a: '2' }, null],
  ]);
});

const denials = [
  {
    name: 'with a message and a code',
    response: { allowed: false, status: { message: 'not today', code: 403, reason: 'Forbidden' } },
    code: 403,
    reason: 'Forbidden',
    message: 'admission webhook "hook.example.com" denied the request: not today',
  },
  {
    name: 'with a reason alone',
    response: { allowed: false, status: { reason: 'TooBad' } },
    code: 400,
    reason: 'TooBad',
    message: 'admission webhook "hook.example.com" denied the request: TooBad',
  },
  {
    name: 'without details',
    response: { allowed: false },
    code: 400,
    reason: undefined,
    message: 'admission webhook "hook.example.com" denied the request without explanation',
  },
  {
    name: 'with a success code',
    response: { allowed: false, status: { message: 'm', code: 200 } },
    code: 400,
    reason: undefined,
    message: 'admission webhook "hook.example.com" denied the request: m',
  },
];
for (const { name, response, ...expected } of denials) {
  test(`a webhook denies a write ${name}`, async () => {
    await using hooks = await startWebhookServer(() => response);
    await using server = await cluster();
    await validatedBy(server.client, hook(hooks));
    const { code, reason, message } = (await outcome(
      server.client.create(configMap, object()),
    )) as StatusError['status'];
    assert.deepEqual({ code, reason, message }, expected);
  });
}

const failed = 'Internal error occurred: failed calling webhook "hook.example.com":';
const failures: { name: string; response: Awaited<ReturnType<Handler>>; message: string }[] = [
  {
    name: 'the response is for another request',
    response: { uid: 'other', allowed: true },
    message: 'received invalid webhook response: expected response.uid=',
  },
  {
    name: 'a validating webhook returns a patch',
    response: { allowed: true, patch: [{ op: 'remove', path: '/data' }] },
    message: 'received invalid webhook response: validating webhook may not return response.patch',
  },
  {
    name: 'the server returns an error',
    response: { raw: { status: 500, body: 'boom' } },
    message: 'failed to call webhook: an error on the server ("boom") has prevented the request from succeeding',
  },
];
for (const { name, response, message } of failures) {
  test(`the write fails if ${name}`, async () => {
    await using hooks = await startWebhookServer(() => response);
    await using server = await cluster();
    await validatedBy(server.client, hook(hooks));
    const status = (await outcome(server.client.create(configMap, object()))) as StatusError['status'];
    assert.equal(status.code, 500);
    assert.ok(status.message?.startsWith(`${failed} ${message}`), String(status.message));
  });

  test(`the write succeeds with failurePolicy Ignore if ${name}`, async () => {
    await using hooks = await startWebhookServer(() => response);
    await using server = await cluster();
    await validatedBy(server.client, hook(hooks, { failurePolicy: 'Ignore' }));
    assert.equal(((await outcome(server.client.create(configMap, object()))) as ConfigMap).metadata.name, 'c');
  });
}

test('an unreachable webhook fails the write', async () => {
  await using server = await cluster();
  await mutatedBy(server.client, hook('https://127.0.0.1:1/x'));
  const { message } = (await outcome(server.client.create(configMap, object()))) as StatusError['status'];
  assert.equal(
    message,
    `${failed} failed to call webhook: Post "https://127.0.0.1:1/x?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused`,
  );
});

test('a dry run does not call webhooks with side effects', async () => {
  // Validation no longer accepts such webhooks, but old objects may contain them.
  const webhook = hook('https://hook.example.com', { sideEffects: 'Some', failurePolicy: 'Ignore' }) as MutatingWebhook;
  const [ready] = hooksOf<MutatingWebhook>([labelled('m', [webhook])]);
  const caller = createWebhookCaller({ clock: systemClock, resolve: () => assert.fail('it is asked') });
  const attributes = writeOf(configMap, object(), { dryRun: true });
  const invocation = { target: { resource: configMap, kind: configMap }, object: undefined, oldObject: undefined };
  await assert.rejects(callWebhook(caller, ready!, attributes, invocation, false), {
    code: 400,
    message: 'admission webhook "hook.example.com" does not support dry run',
  });
});

test('a dry run calls webhooks that support it', async () => {
  await using hooks = await startWebhookServer(() => ({ allowed: true }));
  await using server = await cluster();
  await validatedBy(server.client, hook(hooks, { sideEffects: 'NoneOnDryRun' }));
  await server.client.create(configMap, object(), { dryRun: true });
  assert.equal(hooks.requests[0]?.request['dryRun'], true);
});

test('mutating webhooks are called by configuration name, then in order', async () => {
  await using hooks = await startWebhookServer((_, path) => ({
    allowed: true,
    patch: [{ op: 'add', path: `/data/${path.slice(1, 2)}`, value: '' }],
  }));
  await using server = await cluster();
  const at = (path: string) =>
    hook(hooks, {
      name: `${path}.example.com`,
      clientConfig: { url: `${hooks.url}/${path}`, caBundle: hooks.caBundle },
    });
  await server.client.create(mutatingWebhookConfiguration, labelled('second', [at('c')]));
  await server.client.create(mutatingWebhookConfiguration, labelled('first', [at('a'), at('b')]));
  const { data } = await server.client.create(configMap, object({ own: '' }));
  assert.deepEqual(Object.keys(data ?? {}), ['a', 'b', 'c', 'own']);
  assert.deepEqual(
    hooks.requests.map(({ path }) => path.slice(1, 2)),
    ['a', 'b', 'c'],
  );
});

test('a webhook with reinvocation policy IfNeeded is called again after a later one changed the object', async () => {
  await using hooks = await startWebhookServer((_, path) =>
    path.startsWith('/late')
      ? { allowed: true, patch: [{ op: 'add', path: '/data/late', value: 'x' }] }
      : { allowed: true },
  );
  await using server = await cluster();
  const at = (path: string, reinvocationPolicy: string) =>
    hook(hooks, {
      name: `${path}.example.com`,
      reinvocationPolicy,
      clientConfig: { url: `${hooks.url}/${path}`, caBundle: hooks.caBundle },
    });
  await mutatedBy(server.client, at('again', 'IfNeeded'), at('once', 'Never'), at('late', 'Never'));
  await server.client.create(configMap, object({ own: '' }));
  assert.deepEqual(
    hooks.requests.map(({ path }) => path.split('?')[0]),
    ['/again', '/once', '/late', '/again'],
  );
});

test('plugins before the webhook complete the fields that it adds', async () => {
  await using hooks = await startWebhookServer(() => ({
    allowed: true,
    patch: [{ op: 'add', path: '/spec/containers/-', value: { name: 'added', image: 'i' } }],
  }));
  await using server = await cluster();
  await server.client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } } as never);
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];
  await mutatedBy(server.client, hook(hooks, { rules }));
  const { spec } = await server.client.create(pod, {
    metadata: { name: 'p', namespace: 'default' },
    spec: { containers: [{ name: 'own', image: 'i' }] },
  } as never);
  const [own, added] = spec?.containers ?? [];
  assert.equal(added?.terminationMessagePath, '/dev/termination-log');
  assert.deepEqual(added?.volumeMounts, own?.volumeMounts);
});

test('a webhook that patches the object of a delete fails the write', async () => {
  await using hooks = await startWebhookServer(() => ({ allowed: true, patch: [{ op: 'remove', path: '/data' }] }));
  await using server = await cluster();
  await server.client.create(configMap, object());
  await mutatedBy(server.client, hook(hooks));
  const status = await outcome(server.client.delete(configMap, { name: 'c', namespace: 'default' }));
  assert.equal(
    (status as StatusError['status']).message,
    'Internal error occurred: admission webhook "hook.example.com" attempted to modify the object, which is not supported for this operation',
  );
});

const selections = [
  { name: 'of another resource', more: { rules: [{ ...configMapRule, resources: ['secrets'] }] }, asked: false },
  { name: 'of another operation', more: { rules: [{ ...configMapRule, operations: ['DELETE'] }] }, asked: false },
  { name: 'of all operations', more: { rules: [{ ...configMapRule, operations: ['*'] }] }, asked: true },
  { name: 'of the whole cluster only', more: { rules: [{ ...configMapRule, scope: 'Cluster' }] }, asked: false },
  { name: 'of all resources', more: { rules: [{ ...configMapRule, resources: ['*'] }] }, asked: true },
  { name: 'and their subresources', more: { rules: [{ ...configMapRule, resources: ['configmaps/*'] }] }, asked: true },
  { name: 'with its labels', more: { objectSelector: { matchLabels: { app: 'x' } } }, asked: true },
  { name: 'with other labels', more: { objectSelector: { matchLabels: { app: 'y' } } }, asked: false },
  {
    name: 'in its namespace',
    more: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } } },
    asked: true,
  },
  {
    name: 'in other namespaces',
    more: {
      namespaceSelector: {
        matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['default'] }],
      },
    },
    asked: false,
  },
  {
    name: 'under a condition that holds',
    more: { matchConditions: [{ name: 'a', expression: "object.metadata.name == 'c'" }] },
    asked: true,
  },
  {
    name: 'under conditions of which one does not hold',
    more: {
      matchConditions: [
        { name: 'a', expression: 'object.data.missing == "x"' },
        { name: 'b', expression: "request.operation == 'DELETE'" },
      ],
    },
    asked: false,
  },
  {
    name: 'under a condition on the permissions of the user',
    more: {
      matchConditions: [{ name: 'a', expression: "authorizer.group('').resource('secrets').check('get').allowed()" }],
    },
    asked: true,
  },
];
for (const { name, more, asked } of selections) {
  test(`a webhook for objects ${name} is ${asked ? '' : 'not '}called`, async () => {
    await using hooks = await startWebhookServer(() => ({ allowed: true }));
    await using server = await cluster();
    await validatedBy(server.client, hook(hooks, more));
    await server.client.create(configMap, object({ a: '' }, { labels: { app: 'x' } }));
    assert.equal(hooks.requests.length > 0, asked);
  });
}

test('a match condition with an error denies the write', async () => {
  await using hooks = await startWebhookServer(() => ({ allowed: true }));
  await using server = await cluster();
  await validatedBy(
    server.client,
    hook(hooks, { matchConditions: [{ name: 'a', expression: 'object.missing == "x"' }] }),
  );
  const { code, message } = (await outcome(server.client.create(configMap, object()))) as StatusError['status'];
  assert.equal(code, 403);
  assert.equal(
    message,
    `configmaps "c" is forbidden: expression 'object.missing == "x"' resulted in error: no such key: missing`,
  );
});

test('warnings of a webhook are returned to the client', async () => {
  await using hooks = await startWebhookServer(() => ({ allowed: true, warnings: ['careful'] }));
  await using server = await cluster();
  await validatedBy(server.client, hook(hooks));
  const transport = inProcessTransport(server.core, { username: 'a', groups: ['system:masters'] });
  const { warnings } = await transport.request({
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps',
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } },
  });
  assert.deepEqual(warnings, ['careful']);
});

test('a webhook cannot corrupt managedFields', async () => {
  await using hooks = await startWebhookServer(() => ({
    allowed: true,
    patch: [{ op: 'replace', path: '/metadata/managedFields', value: [{ manager: 'hook' }] }],
  }));
  await using server = await cluster();
  await mutatedBy(server.client, hook(hooks));
  const transport = inProcessTransport(server.core, { username: 'a', groups: ['system:masters'] });
  const { warnings } = await transport.request({
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps',
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: 'b' } },
  });
  assert.match(
    warnings[0] ?? '',
    /^\.metadata\.managedFields was in an invalid state after admission; .*operation must be/,
  );
  const { storage } = server.core.resources.find('', 'v1', 'configmaps')!;
  assert.match(JSON.stringify(storage.cache.get(storage.keyOf('default', 'c'))?.managedFields), /"f:data"/);
});

test('a webhook that supports only v1beta1 gets and returns a v1beta1 review', async () => {
  await using hooks = await startWebhookServer(() => ({ allowed: true, uid: 'whatever' }));
  await using server = await cluster();
  await validatedBy(server.client, hook(hooks, { admissionReviewVersions: ['v2', 'v1beta1', 'v1'] }));
  await server.client.create(configMap, object());
  assert.equal(hooks.requests[0]?.version, 'admission.k8s.io/v1beta1');
});

test('webhook configurations are never sent to webhooks', async () => {
  await using hooks = await startWebhookServer(() => ({ allowed: false }));
  await using server = await cluster();
  const everything = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] };
  await validatedBy(server.client, hook(hooks, { rules: [everything] }));
  await server.client.delete(validatingWebhookConfiguration, { name: 'v' });
  assert.equal(hooks.requests.length, 0);
});

const toys = {
  metadata: { name: 'toys.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'toys', singular: 'toy', kind: 'Toy', listKind: 'ToyList' },
    scope: 'Namespaced',
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === 'v2',
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              properties: { size: { type: 'integer', default: 7 }, by: { type: 'string' } },
            },
          },
        },
      },
    })),
  },
} as never;

const inOtherVersion = [
  { matchPolicy: 'Equivalent', seen: 'example.com/v2', by: 'hook' },
  { matchPolicy: 'Exact', seen: undefined, by: undefined },
];
for (const { matchPolicy, seen, by } of inOtherVersion) {
  test(`a webhook for another version ${seen ? 'receives the object in that version' : 'is not called'} if its match policy is ${matchPolicy}`, async () => {
    await using hooks = await startWebhookServer(() => ({
      allowed: true,
      patch: [{ op: 'add', path: '/spec/by', value: 'hook' }],
    }));
    await using server = await cluster();
    await server.client.create(customResourceDefinition, toys);
    const rules = [{ apiGroups: ['example.com'], apiVersions: ['v2'], operations: ['*'], resources: ['toys'] }];
    await mutatedBy(server.client, hook(hooks, { rules, matchPolicy }));
    const transport = inProcessTransport(server.core, { username: 'a', groups: ['system:masters'] });
    const body = { apiVersion: 'example.com/v1', kind: 'Toy', metadata: { name: 't' }, spec: {} };
    const path = '/apis/example.com/v1/namespaces/default/toys';
    const made = (await transport.request({ method: 'POST', path, body })).object as {
      apiVersion: string;
      spec: object;
    };
    const [asked] = hooks.requests;
    assert.equal((asked?.request['object'] as { apiVersion?: string } | undefined)?.apiVersion, seen);
    assert.deepEqual(asked?.request['requestKind'], seen && { group: 'example.com', version: 'v1', kind: 'Toy' });
    assert.deepEqual([made.apiVersion, made.spec], ['example.com/v1', { size: 7, ...(by ? { by } : {}) }]);
  });
}

const toyHook = (hooks: WebhookServer, name: string) => ({
  ...hook(hooks, {
    rules: [{ apiGroups: ['example.com'], apiVersions: ['v2'], operations: ['*'], resources: ['toys'] }],
  }),
  name,
});
const toy = { apiVersion: 'example.com/v2', kind: 'Toy', metadata: { name: 't', namespace: 'default' }, spec: {} };
const makeToy = (server: Awaited<ReturnType<typeof cluster>>) =>
  inProcessTransport(server.core, testAdmin)
    .request({ method: 'POST', path: '/apis/example.com/v2/namespaces/default/toys', body: toy })
    .then(({ object }) => object as typeof toy);

test('a null from a webhook in a custom object is subject to schema validation', async () => {
  await using hooks = await startWebhookServer(() => ({
    allowed: true,
    patch: [
      { op: 'add', path: '/spec/by', value: null },
      { op: 'replace', path: '/spec/size', value: null },
    ],
  }));
  await using server = await cluster();
  await server.client.create(customResourceDefinition, toys);
  await mutatedBy(server.client, toyHook(hooks, 'a.example.com'));
  await assert.rejects(makeToy(server), {
    // The size has a default.
    message:
      'Toy.example.com "t" is invalid: spec.by: Invalid value: "null": spec.by in body must be of type string: "null"',
  });
});

test('unknown fields from a webhook reach later webhooks but are not stored', async () => {
  await using hooks = await startWebhookServer(() => ({
    allowed: true,
    patch: [{ op: 'add', path: '/spec/odd', value: 1 }],
  }));
  await using server = await cluster();
  await server.client.create(customResourceDefinition, toys);
  await mutatedBy(server.client, toyHook(hooks, 'a.example.com'), toyHook(hooks, 'b.example.com'));
  const { spec } = await makeToy(server);
  assert.deepEqual(spec, { size: 7 });
  const shown = hooks.requests.map(({ request }) => (request['object'] as typeof toy).spec);
  assert.deepEqual(shown, [{ size: 7 }, { size: 7, odd: 1 }]);
});

test('an in-process webhook is called without a socket', async () => {
  const asked: unknown[] = [];
  const answer = (review: unknown) => {
    const { request } = review as { request: { uid: string } };
    asked.push(request);
    const patch = [{ op: 'add', path: '/data/by', value: 'kruise' }];
    const response = { uid: request.uid, allowed: true, patchType: 'JSONPatch', patch };
    return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
  };
  const inProcessWebhooks = new Map([['kruise-system/kruise-webhook-service/mutate', answer]]);
  await using server = await startTestServer({ inProcessWebhooks });
  const service = { namespace: 'kruise-system', name: 'kruise-webhook-service', path: '/mutate' };
  await mutatedBy(server.client, hook('', { clientConfig: { service } }));
  const { data } = await server.client.create(configMap, object({ a: '' }));
  assert.deepEqual(data, { a: '', by: 'kruise' });
  assert.equal(asked.length, 1);
});
