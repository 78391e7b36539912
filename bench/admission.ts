/**
 * Cost of admission for a write: the chain of plugins, forty webhooks that do not match, one in-process webhook, and a
 * policy. Prints microseconds of CPU per create, everything included.
 */
import { mutatingWebhookConfiguration } from '@kruise/api/admissionregistration/mutatingwebhookconfiguration';
import { validatingAdmissionPolicy } from '@kruise/api/admissionregistration/validatingadmissionpolicy';
import { validatingAdmissionPolicyBinding } from '@kruise/api/admissionregistration/validatingadmissionpolicybinding';
import { configMap } from '@kruise/api/core/configmap';
import { pod } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { startTestServer, type TestServerOptions } from '@kruise/apiserver/testing/test-server';
import type { Client } from '@kruise/client/client';

const creates = 3000;
const namespace = 'default';

const kinds = {
  configmap: (client: Client, name: string) =>
    client.create(configMap, { metadata: { name, namespace }, data: { a: 'b' } } as never),
  pod: (client: Client, name: string) =>
    client.create(pod, {
      metadata: { name, namespace, labels: { app: 'x' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    } as never),
};

const webhook = (name: string, more: object) => ({
  name: `${name}.example.com`,
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...more,
});
const elsewhere = {
  clientConfig: { url: 'https://127.0.0.1:1/' },
  rules: [
    {
      apiGroups: ['apps.kruise.io'],
      apiVersions: ['v1alpha1', 'v1beta1'],
      operations: ['CREATE', 'UPDATE'],
      resources: ['clonesets', 'statefulsets'],
    },
  ],
};
const here = {
  clientConfig: { service: { namespace: 'kruise-system', name: 'webhooks', path: '/mutate' } },
  rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods', 'configmaps'] }],
};
const configuration = (...webhooks: readonly object[]) => ({ metadata: { name: 'm' }, webhooks }) as never;
const answer = (review: unknown) => {
  const { uid } = (review as { request: { uid: string } }).request;
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } };
};

type Setting = {
  readonly name: string;
  readonly options?: TestServerOptions;
  readonly prepare?: (client: Client) => Promise<unknown>;
};
const settings: Setting[] = [
  { name: 'no admission', options: { admission: [] } },
  { name: 'the usual plugins' },
  {
    name: 'and forty webhooks for others',
    prepare: (client) =>
      client.create(
        mutatingWebhookConfiguration,
        configuration(...Array.from({ length: 40 }, (_, index) => webhook(`w${index}`, elsewhere))),
      ),
  },
  {
    name: 'and one in the same process',
    options: { inProcessWebhooks: new Map([['kruise-system/webhooks/mutate', answer]]) },
    prepare: (client) => client.create(mutatingWebhookConfiguration, configuration(webhook('here', here))),
  },
  {
    name: 'and a policy',
    async prepare(client) {
      const spec = {
        matchConstraints: { resourceRules: here.rules },
        validations: [{ expression: "object.metadata.name.startsWith('n') && request.operation == 'CREATE'" }],
      };
      await client.create(validatingAdmissionPolicy, { metadata: { name: 'p' }, spec } as never);
      const bound = { policyName: 'p', validationActions: ['Deny'] };
      await client.create(validatingAdmissionPolicyBinding, { metadata: { name: 'b' }, spec: bound } as never);
    },
  },
];

for (const { name, options, prepare } of settings) {
  await using server = await startTestServer({ freezeObjects: false, ...options });
  const { client } = server;
  await client.create(serviceAccount, { metadata: { name: 'default', namespace } } as never);
  await prepare?.(client);
  const costs: string[] = [];
  for (const [kind, create] of Object.entries(kinds)) {
    for (let index = 0; index < creates; index++) await create(client, `n${index}`);
    const before = process.cpuUsage();
    for (let index = creates; index < 2 * creates; index++) await create(client, `n${index}`);
    const { user, system } = process.cpuUsage(before);
    costs.push(`${kind} ${((user + system) / creates).toFixed(0)}`);
  }
  console.log(`${name.padEnd(32)} ${costs.join('  ')}`);
}
