import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { selfSubjectReview } from '@kruise/api/authentication/selfsubjectreview';
import type { SubjectAccessReviewSpec } from '@kruise/api/authorization/attributes';
import { localSubjectAccessReview } from '@kruise/api/authorization/localsubjectaccessreview';
import { selfSubjectAccessReview } from '@kruise/api/authorization/selfsubjectaccessreview';
import { selfSubjectRulesReview } from '@kruise/api/authorization/selfsubjectrulesreview';
import { subjectAccessReview } from '@kruise/api/authorization/subjectaccessreview';
import { StatusError } from '@kruise/machinery/status';
import { startTestServer, type TestServer } from '../testing/test-server.ts';

let server: TestServer;

before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const pods = { verb: 'get', resource: 'pods', namespace: 'default' };
const someone = { username: 'someone', groups: ['team'] };
const ask = (spec: SubjectAccessReviewSpec) => server.client.create(subjectAccessReview, { metadata: {}, spec });

/** Returns the invalid fields of a review, with reasons. */
async function faults(promise: Promise<unknown>): Promise<readonly string[]> {
  try {
    await promise;
    return [];
  } catch (error) {
    assert.ok(error instanceof StatusError);
    const causes = error.status.details?.causes ?? [];
    return causes.length > 0 ? causes.map(({ field, message }) => `${field}: ${message}`) : [error.message];
  }
}

test('SelfSubjectReview returns the user', async () => {
  const { status, metadata } = await server.clientOf(someone).create(selfSubjectReview, { metadata: {} });
  assert.deepEqual(status?.userInfo, { username: 'someone', groups: ['team', 'system:authenticated'] });
  assert.ok(metadata.creationTimestamp);
});

test('SelfSubjectAccessReview returns the decision and the reason', async () => {
  const client = server.clientOf(someone);
  const spec = { nonResourceAttributes: { path: '/api', verb: 'get' } };
  const { status } = await client.create(selfSubjectAccessReview, { metadata: {}, spec });
  assert.deepEqual(status, {
    allowed: true,
    reason:
      'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"',
  });
});

test('SubjectAccessReview reviews another user, by name or by group', async () => {
  assert.deepEqual((await ask({ user: 'someone', resourceAttributes: pods })).status, { allowed: false });
  assert.deepEqual((await ask({ groups: ['system:masters'], resourceAttributes: pods })).status, { allowed: true });
});

test('the response contains the field manager of the request', async () => {
  const { object } = await server.client.transport.request({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: { spec: { user: 'someone', resourceAttributes: pods } },
  });
  const { metadata } = object as { readonly metadata: { readonly managedFields: readonly { manager: string }[] } };
  assert.deepEqual(
    metadata.managedFields.map(({ manager }) => manager),
    ['kruise'],
  );
});

test('a selector restricts the reviewed access of a node', async () => {
  const node = { user: 'system:node:n1', groups: ['system:nodes'] };
  const listing = (fieldSelector: object) =>
    ask({ ...node, resourceAttributes: { verb: 'list', resource: 'pods', fieldSelector } });
  const requirements = [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }];
  assert.equal((await listing({ rawSelector: 'spec.nodeName=n1' })).status?.allowed, true);
  assert.equal((await listing({ requirements })).status?.allowed, true);
  assert.equal((await listing({ rawSelector: 'spec.nodeName=n2' })).status?.allowed, false);
});

test('an unparsable selector is ignored and reported', async () => {
  const { status } = await ask({ user: 'u', resourceAttributes: { ...pods, labelSelector: { rawSelector: '!!' } } });
  assert.equal(status?.evaluationError, 'spec.resourceAttributes.labelSelector ignored due to parse error');
});

test('a review with no attributes, two attributes, or no user is rejected', async () => {
  const path = { path: '/', verb: 'get' };
  assert.deepEqual(await faults(ask({ user: 'u' })), [
    'spec.resourceAttributes: Invalid value: "null": exactly one of nonResourceAttributes or resourceAttributes must be specified',
  ]);
  assert.equal((await faults(ask({ user: 'u', resourceAttributes: pods, nonResourceAttributes: path }))).length, 1);
  assert.deepEqual(await faults(ask({ resourceAttributes: pods })), [
    'spec.user: Invalid value: "": at least one of user or group must be specified',
  ]);
});

test('a selector has either a raw string or requirements', async () => {
  const requirements = [{ key: 'a', operator: 'In', values: ['b'] }];
  const asked = (labelSelector: object) => faults(ask({ user: 'u', resourceAttributes: { ...pods, labelSelector } }));
  const path = 'spec.resourceAttributes.labelSelector';
  assert.deepEqual(await asked({ rawSelector: 'a=b', requirements }), [
    `${path}.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements`,
  ]);
  assert.deepEqual(await asked({}), [
    `${path}.requirements: Required value: when ${path} is specified, requirements or rawSelector is required`,
  ]);
  assert.match((await asked({ requirements: [{ key: 'a', operator: 'In', values: ['-'] }] }))[0]!, /values\[0\]/);
});

test('a LocalSubjectAccessReview must be for its own namespace', async () => {
  const local = (resourceAttributes: object) =>
    server.client.create(localSubjectAccessReview, {
      metadata: { namespace: 'default' },
      spec: { user: 'u', resourceAttributes },
    });
  assert.deepEqual((await local(pods)).status, { allowed: false });
  assert.deepEqual(await faults(local({ ...pods, namespace: 'other' })), [
    'spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace',
  ]);
});

test('SelfSubjectRulesReview returns the rules of a namespace', async () => {
  const client = server.clientOf(someone);
  const { status, spec } = await client.create(selfSubjectRulesReview, {
    metadata: {},
    spec: { namespace: 'default' },
  });
  assert.deepEqual(spec, {});
  assert.equal(status?.incomplete, false);
  assert.deepEqual(status?.resourceRules.flatMap(({ resources }) => resources).sort(), [
    'selfsubjectaccessreviews',
    'selfsubjectreviews',
    'selfsubjectrulesreviews',
  ]);
});

test('the rules review of a node is marked incomplete', async () => {
  const client = server.clientOf({ username: 'system:node:n1', groups: ['system:nodes'] });
  const { status } = await client.create(selfSubjectRulesReview, { metadata: {}, spec: { namespace: 'default' } });
  assert.equal(status?.incomplete, true);
  assert.equal(status?.evaluationError, 'node authorizer does not support user rule resolution');
});
