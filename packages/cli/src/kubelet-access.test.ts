import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { grantKubeletAccess, kubeletAccess } from './kubelet-access.ts';
import { kubeletClientUser, loadPki } from './pki.ts';

const folder = mkdtempSync(join(tmpdir(), 'kruise-kubelet-access-'));
after(() => rmSync(folder, { recursive: true }));
const nowMs = Date.now();
const own = { certificate: 'own certificate', key: 'own key' };
const kubeletPreferredAddressTypes = 'InternalIP,ExternalIP,Hostname';
const fileOf = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

test('the API server presents its own client certificate to kubelets and orders their addresses as kubeadm does', () => {
  assert.deepEqual(kubeletAccess({ kubeletPreferredAddressTypes }, own), {
    ...own,
    addressTypes: ['InternalIP', 'ExternalIP', 'Hostname'],
  });
});

test('the flags replace the client certificate and set the CA of kubelets', () => {
  const flags = {
    kubeletPreferredAddressTypes: 'Hostname',
    kubeletClientCertificate: fileOf('client.crt', 'certificate'),
    kubeletClientKey: fileOf('client.key', 'key'),
    kubeletCertificateAuthority: fileOf('ca.crt', 'authority'),
  };
  assert.deepEqual(kubeletAccess(flags, own), {
    certificate: 'certificate',
    key: 'key',
    authority: 'authority',
    addressTypes: ['Hostname'],
  });
});

test('a certificate without its key and unknown address types are rejected', () => {
  const half = { kubeletPreferredAddressTypes, kubeletClientCertificate: fileOf('half.crt', '') };
  assert.throws(() => kubeletAccess(half, own), /must be given together/);
  assert.throws(() => kubeletAccess({ kubeletPreferredAddressTypes: 'IP' }, own), /"IP" is not one of Hostname/);
});

test('the kubelet client certificate has no group, and an earlier one in system:masters is replaced', () => {
  const pki = join(folder, 'pki');
  const { ca, kubeletClient } = loadPki(mkdtempSync(pki), [], nowMs);
  assert.equal(new X509Certificate(kubeletClient.certificate).subject, `CN=${kubeletClientUser}`);

  const former = mkdtempSync(pki);
  const subject = { commonName: kubeletClientUser, organizations: ['system:masters'] };
  const pair = ca.issue({ subject, usages: ['client auth'], nowMs });
  for (const [name, { certificate, key }] of [
    ['ca', ca],
    ['apiserver-kubelet-client', pair],
  ] as const) {
    writeFileSync(join(former, `${name}.crt`), certificate);
    writeFileSync(join(former, `${name}.key`), key);
  }
  const replaced = new X509Certificate(loadPki(former, [], nowMs).kubeletClient.certificate);
  assert.equal(replaced.subject, `CN=${kubeletClientUser}`);
  assert.ok(replaced.checkIssued(new X509Certificate(ca.certificate)));
});

test('the user of the kubelet client certificate may access only the kubelet API', async () => {
  await using server = await startTestServer();
  const { core } = server;
  const may = async (verb: string, plural: string, subresource = '') => {
    const user = { username: kubeletClientUser, groups: ['system:authenticated'] };
    const namespace = '';
    const wanted = { user, verb, resource: true, group: '', version: 'v1', plural, subresource, namespace, name: 'n' };
    return (
      (await core.authorizer.authorize(wanted as Parameters<typeof core.authorizer.authorize>[0])).verdict === 'allow'
    );
  };
  assert.equal(await may('create', 'nodes', 'proxy'), false);
  // A second server or the next start finds the existing binding.
  for (let count = 0; count < 2; count++)
    await grantKubeletAccess({ core } as Parameters<typeof grantKubeletAccess>[0]);
  await core.feed.waitForCurrent();
  assert.equal(await may('create', 'nodes', 'proxy'), true);
  assert.equal(await may('get', 'nodes', 'stats'), true);
  assert.equal(await may('get', 'secrets'), false);
  assert.equal(await may('update', 'nodes'), false);
});
