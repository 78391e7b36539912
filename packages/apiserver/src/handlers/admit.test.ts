import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { configMap } from '@kruise/api/core/configmap';
import { namespace } from '@kruise/api/core/namespace';
import type { Client } from '@kruise/client/client';
import type { AdmissionPlugin, Attributes } from '../admission/admission.ts';
import { inProcessTransport } from '../pipeline/in-process.ts';
import { startTestServer, testAdmin } from '../testing/test-server.ts';

/** Formats the attributes of an admission call. */
function formatAttributes({
  operation,
  resource,
  subresource,
  kind,
  namespace: where,
  name,
  object,
  oldObject,
  options,
  dryRun,
}: Attributes): string {
  const what = `${resource.kind.plural}${subresource === '' ? '' : `/${subresource}`}`;
  const shown = [...(object ? ['new'] : []), ...(oldObject ? ['old'] : [])].join('+');
  return `${operation} ${what} ${kind.kind} ${where || '-'}/${name || '-'} ${shown} ${options?.['kind'] ?? '-'}${dryRun ? ' dry' : ''}`;
}

type Request = {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: object;
  query?: { [name: string]: string };
  contentType?: string;
};
const at = '/api/v1/namespaces/default/configmaps';
const map = (metadata: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };

const prepare = async (client: Client) => {
  await client.create(configMap, { metadata: { name: 'there', namespace: 'default' } } as never);
  await client.create(deployment, {
    metadata: { name: 'd', namespace: 'default' },
    spec: { selector: { matchLabels: { a: 'b' } }, template },
  } as never);
};

const rows: { readonly name: string; readonly request: Request; readonly expected: readonly string[] }[] = [
  {
    name: 'a create',
    request: { method: 'POST', path: at, body: map({ name: 'c' }) },
    expected: [
      'mutate CREATE configmaps ConfigMap default/c new CreateOptions',
      'validate CREATE configmaps ConfigMap default/c new CreateOptions',
    ],
  },
  {
    name: 'a dry run',
    request: { method: 'POST', path: at, body: map({ name: 'c' }), query: { dryRun: 'All' } },
    expected: [
      'mutate CREATE configmaps ConfigMap default/c new CreateOptions dry',
      'validate CREATE configmaps ConfigMap default/c new CreateOptions dry',
    ],
  },
  {
    name: 'an apply that creates',
    request: {
      method: 'PATCH',
      path: `${at}/c`,
      body: map({ name: 'c' }),
      query: { fieldManager: 'm' },
      contentType: 'application/apply-patch+yaml',
    },
    expected: [
      'mutate CREATE configmaps ConfigMap default/c new CreateOptions',
      'validate CREATE configmaps ConfigMap default/c new CreateOptions',
    ],
  },
  {
    name: 'a patch',
    request: {
      method: 'PATCH',
      path: `${at}/there`,
      body: { data: { a: 'b' } },
      contentType: 'application/merge-patch+json',
    },
    expected: [
      'mutate UPDATE configmaps ConfigMap default/there new+old UpdateOptions',
      'validate UPDATE configmaps ConfigMap default/there new+old UpdateOptions',
    ],
  },
  {
    name: 'a delete',
    request: { method: 'DELETE', path: `${at}/there` },
    expected: [
      'mutate DELETE configmaps ConfigMap default/there old DeleteOptions',
      'validate DELETE configmaps ConfigMap default/there old DeleteOptions',
    ],
  },
  {
    name: 'each object of a deletecollection, without its name',
    request: { method: 'DELETE', path: at, query: { fieldSelector: 'metadata.name=there' } },
    expected: [
      'mutate DELETE configmaps ConfigMap default/- old DeleteOptions',
      'validate DELETE configmaps ConfigMap default/- old DeleteOptions',
    ],
  },
  {
    name: 'a scale rather than its object',
    request: {
      method: 'PATCH',
      path: '/apis/apps/v1/namespaces/default/deployments/d/scale',
      body: { spec: { replicas: 2 } },
      contentType: 'application/merge-patch+json',
    },
    expected: [
      'mutate UPDATE deployments/scale Scale default/d new+old UpdateOptions',
      'validate UPDATE deployments/scale Scale default/d new+old UpdateOptions',
    ],
  },
  {
    name: 'a status',
    request: {
      method: 'PATCH',
      path: '/apis/apps/v1/namespaces/default/deployments/d/status',
      body: { status: { replicas: 2 } },
      contentType: 'application/merge-patch+json',
    },
    expected: [
      'mutate UPDATE deployments/status Deployment default/d new+old UpdateOptions',
      'validate UPDATE deployments/status Deployment default/d new+old UpdateOptions',
    ],
  },
  {
    name: 'a namespace, which is in itself',
    request: {
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } },
    },
    expected: [
      'mutate CREATE namespaces Namespace n/n new CreateOptions',
      'validate CREATE namespaces Namespace n/n new CreateOptions',
    ],
  },
  {
    name: 'a review',
    request: {
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
      },
    },
    expected: [
      'mutate CREATE selfsubjectaccessreviews SelfSubjectAccessReview -/- new CreateOptions',
      'validate CREATE selfsubjectaccessreviews SelfSubjectAccessReview -/- new CreateOptions',
    ],
  },
];
for (const { name, request, expected } of rows) {
  test(`admission is called for ${name}`, async () => {
    const asked: string[] = [];
    let listening = false;
    const listener: AdmissionPlugin = {
      name: 'listener',
      handles: ({ context }) => listening && context.user.username === testAdmin.username,
      mutate: (attributes) => void asked.push(`mutate ${formatAttributes(attributes)}`),
      validate: (attributes) => void asked.push(`validate ${formatAttributes(attributes)}`),
    };
    await using server = await startTestServer({ admission: [listener] });
    await server.client.create(namespace, { metadata: { name: 'default' } } as never).catch(() => {});
    await prepare(server.client);
    listening = true;
    await inProcessTransport(server.core, testAdmin).request(request);
    assert.deepEqual(asked, expected);
  });
}

test('only validating plugins see a generated name', async () => {
  const names: string[] = [];
  const listener: AdmissionPlugin = {
    name: 'listener',
    handles: ({ resource }) => resource.kind.plural === 'configmaps',
    mutate: (attributes) => void names.push(attributes.name),
    validate: (attributes) => void names.push(attributes.name),
  };
  await using server = await startTestServer({ admission: [listener] });
  const made = await server.client.create(configMap, {
    metadata: { generateName: 'c-', namespace: 'default' },
  } as never);
  assert.deepEqual(names.slice(-2), ['', made.metadata.name]);
});
