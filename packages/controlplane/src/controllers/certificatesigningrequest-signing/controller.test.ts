import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { certificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import { clusterRoleBinding } from '@kruise/api/rbac/clusterrolebinding';
import { isNotFound } from '@kruise/machinery/status';
import { createCertificateAuthority, createRequest, generateKey } from '@kruise/machinery/x509/certificate';
import { type Cluster, startCluster } from '../../testing/cluster.ts';

const controllers = ['approving', 'signing', 'cleaner'].map((each) => `certificatesigningrequest-${each}-controller`);

async function startSigning(): Promise<Cluster> {
  const cluster = await startCluster();
  await cluster.run(controllers, { signer: createCertificateAuthority('ca', cluster.clock.now()) });
  return cluster;
}

/** Requests a client certificate for a kubelet with a bootstrap token. */
function ask({ clientOf }: Cluster, name: string, commonName = 'system:node:n') {
  const subject = { commonName, organizations: ['system:nodes'] };
  const request = Buffer.from(createRequest(subject, generateKey())).toString('base64');
  const kubelet = clientOf({ username: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] });
  return kubelet.create(certificateSigningRequest, {
    metadata: { name },
    spec: {
      request,
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
    },
  });
}

const grant = ({ client }: Cluster, name: string, role: string) =>
  client.create(clusterRoleBinding, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:bootstrappers' }],
  });

test('the request of an authorized kubelet is approved and signed, and deleted after an hour', async () => {
  await using cluster = await startSigning();
  const { client } = cluster;
  await grant(cluster, 'bootstrap', 'system:node-bootstrapper');
  await grant(cluster, 'approve', 'system:certificates.k8s.io:certificatesigningrequests:nodeclient');
  await cluster.advance(1);
  await ask(cluster, 'mine');
  await cluster.advance(1);

  const { status } = await client.get(certificateSigningRequest, { name: 'mine' });
  const [approval] = status?.conditions ?? [];
  assert.deepEqual(
    [approval?.type, approval?.reason, approval?.message],
    ['Approved', 'AutoApproved', 'Auto approving kubelet client certificate after SubjectAccessReview.'],
  );
  const certificate = new X509Certificate(Buffer.from(status?.certificate ?? '', 'base64'));
  assert.equal(certificate.subject, 'O=system:nodes\nCN=system:node:n');

  await cluster.advance(3500);
  assert.ok(await client.get(certificateSigningRequest, { name: 'mine' }));
  await cluster.advance(200);
  await assert.rejects(client.get(certificateSigningRequest, { name: 'mine' }), isNotFound);
  assert.deepEqual(cluster.warnings, []);
});

test('the request of an unauthorized kubelet waits until it is authorized', async () => {
  await using cluster = await startSigning();
  const { client } = cluster;
  await grant(cluster, 'bootstrap', 'system:node-bootstrapper');
  await cluster.advance(1);
  await ask(cluster, 'mine');
  await cluster.advance(10);
  assert.equal((await client.get(certificateSigningRequest, { name: 'mine' })).status?.conditions, undefined);

  await grant(cluster, 'approve', 'system:certificates.k8s.io:certificatesigningrequests:nodeclient');
  await cluster.advance(30);
  assert.ok((await client.get(certificateSigningRequest, { name: 'mine' })).status?.certificate);
  assert.deepEqual(cluster.warnings, []);
});

test('a request that is not from a kubelet is not approved, and deleted after a day', async () => {
  await using cluster = await startSigning();
  const { client } = cluster;
  await grant(cluster, 'bootstrap', 'system:node-bootstrapper');
  await grant(cluster, 'approve', 'system:certificates.k8s.io:certificatesigningrequests:nodeclient');
  await cluster.advance(1);
  await ask(cluster, 'other', 'jane');
  await cluster.advance(60);
  assert.equal((await client.get(certificateSigningRequest, { name: 'other' })).status?.conditions, undefined);
});
