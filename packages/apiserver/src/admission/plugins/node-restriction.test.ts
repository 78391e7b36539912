import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenRequest } from '@kruise/api/authentication/tokenrequest';
import { certificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import { lease } from '@kruise/api/coordination/lease';
import { node } from '@kruise/api/core/node';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { pod } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { csiNode } from '@kruise/api/storage/csinode';
import { createRequest, generateKey } from '@kruise/machinery/x509/certificate';
import type { Kind } from '@kruise/schema/kind';
import { admit, lookupOf, writeOf } from '../../testing/admission.ts';
import type { Attributes } from '../admission.ts';
import { nodeRestriction } from './node-restriction.ts';

const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1', controller: true };
const mirror = {
  metadata: {
    name: 'm',
    namespace: 'default',
    annotations: { 'kubernetes.io/config.mirror': 'x' },
    ownerReferences: [owner],
  },
  spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
};
const volumes = [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't', audience: 'vault' } }] } }];
const podOf = (name: string, nodeName: string) => ({
  metadata: { name, namespace: 'default', uid: `uid-${name}` },
  spec: { nodeName, volumes },
});

const lookup = lookupOf(
  { kind: pod, objects: [podOf('mine', 'n1'), podOf('theirs', 'n2')] },
  { kind: node, objects: [{ metadata: { name: 'n1', uid: 'u1' } }] },
);
const plugin = nodeRestriction(lookup, { authorize: () => ({ verdict: 'no-opinion', reason: '' }) });

/** Returns the denial of a node's write; undefined if the write is allowed. */
async function denialOf(kind: Kind, object: unknown, more: Partial<Attributes> = {}, groups = ['system:nodes']) {
  const attributes = writeOf(kind, object, { user: 'system:node:n1', ...more });
  const context = { ...attributes.context, user: { username: 'system:node:n1', groups } };
  const answer = await admit(plugin, { ...attributes, context });
  return typeof answer === 'string' ? answer.replace(/^.* is forbidden: /s, '') : undefined;
}

const update = (oldObject: object, more: Partial<Attributes> = {}): Partial<Attributes> => ({
  operation: 'UPDATE',
  // The plugin reads only these fields.
  oldObject: oldObject as NonNullable<Attributes['oldObject']>,
  ...more,
});
const remove = (name: string): Partial<Attributes> => ({ operation: 'DELETE', name });
const withSpec = (spec: object) => ({ ...mirror, spec: { ...mirror.spec, ...spec } });
const withOwner = (change: object) => ({
  ...mirror,
  metadata: { ...mirror.metadata, ownerReferences: [{ ...owner, ...change }] },
});
const nodeOf = (labels: object, spec: object = {}) => ({ metadata: { name: 'n1', labels }, spec });
const token = (boundObjectRef: object | undefined, audiences: readonly string[] = ['vault']) => ({
  metadata: {},
  spec: { audiences, boundObjectRef },
});
const ofPod = (name: string, uid = `uid-${name}`) => ({ kind: 'Pod', apiVersion: 'v1', name, uid });
const tokens = { subresource: 'token', kind: tokenRequest };
const claim = (status: object) => ({ metadata: { name: 'c' }, spec: {}, status });
const request = (commonName: string) => ({
  metadata: { name: 'r' },
  spec: {
    signerName: 'kubernetes.io/kubelet-serving',
    request: Buffer.from(createRequest({ commonName }, generateKey())).toString('base64'),
  },
});

const cases: readonly [
  name: string,
  kind: Kind,
  object: unknown,
  more: Partial<Attributes>,
  answer: string | undefined,
][] = [
  ['creates a mirror Pod of its own static Pod', pod, mirror, {}, undefined],
  [
    'creates no Pod that is not a mirror',
    pod,
    { ...mirror, metadata: { name: 'm' } },
    {},
    'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
  ],
  [
    'creates no mirror Pod for another node',
    pod,
    withSpec({ nodeName: 'n2' }),
    {},
    'node "n1" can only create pods with spec.nodeName set to itself',
  ],
  [
    'creates no mirror Pod with another owner',
    pod,
    withOwner({ name: 'n2' }),
    {},
    'node "n1" can only create pods with an owner reference set to itself',
  ],
  [
    'creates no mirror Pod owned by an earlier node with its name',
    pod,
    withOwner({ uid: 'u0' }),
    {},
    'node n1 UID mismatch: expected u0 got u1',
  ],
  [
    'creates no mirror Pod that references a ServiceAccount',
    pod,
    withSpec({ serviceAccountName: 'a' }),
    {},
    'node "n1" can not create pods that reference a service account',
  ],
  [
    'creates no mirror Pod that references a Secret',
    pod,
    withSpec({ volumes: [{ name: 'v', secret: { secretName: 's' } }] }),
    {},
    'node "n1" can not create pods that reference secrets',
  ],
  ['deletes its own Pods', pod, undefined, remove('mine'), undefined],
  [
    'deletes no Pods of other nodes',
    pod,
    undefined,
    remove('theirs'),
    'node "n1" can only delete pods with spec.nodeName set to itself',
  ],
  [
    'updates no Pods',
    pod,
    mirror,
    update(mirror),
    'unexpected operation "UPDATE", node "n1" can only create and delete mirror pods',
  ],
  ['updates the status of its own Pods', pod, mirror, update(mirror, { subresource: 'status' }), undefined],
  [
    'does not update the status of other Pods',
    pod,
    podOf('theirs', 'n2'),
    update(podOf('theirs', 'n2'), { subresource: 'status' }),
    'node "n1" can only update pod status for pods with spec.nodeName set to itself',
  ],
  [
    'does not change the labels of a Pod through its status',
    pod,
    { ...mirror, metadata: { ...mirror.metadata, labels: { a: 'b' } } },
    update(mirror, { subresource: 'status' }),
    'node "n1" cannot update labels through pod status',
  ],
  [
    'registers itself',
    node,
    nodeOf({ 'kubernetes.io/hostname': 'n1', 'node.kubernetes.io/x': 'y', mine: 'z' }),
    {},
    undefined,
  ],
  ['registers no other node', node, { metadata: { name: 'n2' } }, {}, 'node "n1" is not allowed to modify node "n2"'],
  [
    'does not set labels that are reserved for administrators',
    node,
    nodeOf({ 'node-restriction.kubernetes.io/zone': 'a', 'node-role.kubernetes.io/x': '' }),
    {},
    'node "n1" is not allowed to set the following labels: node-restriction.kubernetes.io/zone, node-role.kubernetes.io/x',
  ],
  [
    'does not remove labels that are reserved for administrators',
    node,
    nodeOf({}),
    update(nodeOf({ 'node-role.kubernetes.io/x': '' }), { name: 'n1' }),
    'is not allowed to modify labels: node-role.kubernetes.io/x',
  ],
  [
    'does not change its own taints',
    node,
    nodeOf({}, { taints: [{ key: 'a', effect: 'NoSchedule' }] }),
    update(nodeOf({}), { name: 'n1' }),
    'node "n1" is not allowed to modify taints',
  ],
  ['renews its own Lease', lease, { metadata: { name: 'n1' } }, { namespace: 'kube-node-lease' }, undefined],
  [
    'renews no other Lease',
    lease,
    { metadata: { name: 'n2' } },
    { namespace: 'kube-node-lease' },
    'can only access node lease with the same name as the requesting node',
  ],
  [
    'requests a token for its own Pod and an audience of that Pod',
    serviceAccount,
    token(ofPod('mine')),
    tokens,
    undefined,
  ],
  [
    'requests no token without a bound Pod',
    serviceAccount,
    token(undefined),
    tokens,
    'node requested token not bound to a pod',
  ],
  [
    'requests no token for a Pod on another node',
    serviceAccount,
    token(ofPod('theirs')),
    tokens,
    'node requested token bound to a pod scheduled on a different node',
  ],
  [
    'requests no token for an audience that no Pod uses',
    serviceAccount,
    token(ofPod('mine'), ['bank']),
    tokens,
    'audience "bank" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience',
  ],
  ['requests a certificate for its own name', certificateSigningRequest, request('system:node:n1'), {}, undefined],
  [
    'requests no certificate for another name',
    certificateSigningRequest,
    request('system:node:n2'),
    {},
    'can only create a node CSR with CN=system:node:n1',
  ],
  ['writes no PVCs', persistentVolumeClaim, { metadata: { name: 'c' } }, {}, 'may only update PVC status'],
  [
    'creates no mirror Pod with two owners',
    pod,
    { ...mirror, metadata: { ...mirror.metadata, ownerReferences: [owner, owner] } },
    {},
    'node "n1" can only create pods with a single owner reference set to itself',
  ],
  [
    'creates no mirror Pod without an owner',
    pod,
    { ...mirror, metadata: { ...mirror.metadata, ownerReferences: [] } },
    {},
    'node "n1" can only create pods with an owner reference set to itself',
  ],
  [
    'creates no mirror Pod that it does not control',
    pod,
    withOwner({ controller: false }),
    {},
    'node "n1" can only create pods with a controller owner reference set to itself',
  ],
  [
    'creates no mirror Pod that blocks the deletion of its Node',
    pod,
    withOwner({ blockOwnerDeletion: true }),
    {},
    'node "n1" must not set blockOwnerDeletion on an owner reference',
  ],
  [
    'creates no mirror Pod with environment variables from a Secret',
    pod,
    withSpec({ initContainers: [{ name: 'i', image: 'i', envFrom: [{ secretRef: { name: 's' } }] }] }),
    {},
    'node "n1" can not create pods that reference secrets',
  ],
  [
    'creates no mirror Pod with an image pull Secret',
    pod,
    withSpec({ imagePullSecrets: [{ name: 's' }] }),
    {},
    'node "n1" can not create pods that reference secrets',
  ],
  [
    'creates no mirror Pod that references a ConfigMap',
    pod,
    withSpec({ volumes: [{ name: 'v', projected: { sources: [{ configMap: { name: 'c' } }] } }] }),
    {},
    'node "n1" can not create pods that reference configmaps',
  ],
  [
    'creates no mirror Pod that references a ClusterTrustBundle',
    pod,
    withSpec({ volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: { name: 'b', path: 'p' } }] } }] }),
    {},
    'node "n1" can not create pods that reference clustertrustbundles',
  ],
  [
    'creates no mirror Pod that references a PVC',
    pod,
    withSpec({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }),
    {},
    'node "n1" can not create pods that reference persistentvolumeclaims',
  ],
  [
    'creates no mirror Pod that references a ResourceClaim',
    pod,
    withSpec({ resourceClaims: [{ name: 'r' }] }),
    {},
    'node "n1" can not create pods that reference resourceclaims',
  ],
  ['evicts its own Pods', pod, { metadata: { name: 'mine' } }, { subresource: 'eviction', name: 'mine' }, undefined],
  [
    'evicts no other Pods, whatever the name of the Eviction is',
    pod,
    { metadata: { name: 'mine' } },
    { subresource: 'eviction', name: 'theirs' },
    'node n1 can only evict pods with spec.nodeName set to itself',
  ],
  [
    'binds no Pods',
    pod,
    { metadata: { name: 'mine' } },
    { subresource: 'binding', name: 'mine' },
    "unexpected pod subresource \"binding\", only 'status' and 'eviction' are allowed",
  ],
  [
    'resizes no Pods',
    pod,
    mirror,
    update(mirror, { subresource: 'resize' }),
    "unexpected pod subresource \"resize\", only 'status' and 'eviction' are allowed",
  ],
  [
    'does not change the resource claims of a Pod through its status',
    pod,
    { ...mirror, status: { resourceClaimStatuses: [{ name: 'r', resourceClaimName: 'other' }] } },
    update(mirror, { subresource: 'status' }),
    'node "n1" cannot update resource claim statues',
  ],
  ['updates itself', node, nodeOf({ mine: 'z' }), update(nodeOf({}), { name: 'n1' }), undefined],
  ['updates its own status', node, nodeOf({}), update(nodeOf({}), { name: 'n1', subresource: 'status' }), undefined],
  [
    'does not change its own taints through its status',
    node,
    nodeOf({}, { taints: [] }),
    update(nodeOf({}, { taints: [{ key: 'a', effect: 'NoSchedule' }] }), { name: 'n1', subresource: 'status' }),
    'node "n1" is not allowed to modify taints',
  ],
  [
    'updates no other Node',
    node,
    nodeOf({}),
    update(nodeOf({}), { name: 'n2' }),
    'node "n1" is not allowed to modify node "n2"',
  ],
  ['deletes no other Node', node, undefined, remove('n2'), 'node "n1" is not allowed to modify node "n2"'],
  [
    'registers with no configSource',
    node,
    nodeOf({}, { configSource: {} }),
    {},
    'node "n1" is not allowed to create pods with a non-nil configSource',
  ],
  [
    'changes no configSource',
    node,
    nodeOf({}, { configSource: {} }),
    update(nodeOf({}), { name: 'n1' }),
    'node "n1" is not allowed to update configSource to a new non-nil configSource',
  ],
  [
    'does not set its own owner references, which would delete the Node and allow a new registration',
    node,
    { metadata: { name: 'n1', ownerReferences: [{ ...owner, kind: 'ConfigMap' }] } },
    update(nodeOf({}), { name: 'n1' }),
    'node "n1" is not allowed to modify ownerReferences',
  ],
  [
    'creates its own Lease',
    lease,
    { metadata: { name: 'n1' } },
    update({}, { namespace: 'kube-node-lease', name: 'n1' }),
    undefined,
  ],
  [
    'renews no Lease of another node, whatever the name in the body is',
    lease,
    { metadata: { name: 'n1' } },
    update({}, { namespace: 'kube-node-lease', name: 'n2' }),
    'can only access node lease with the same name as the requesting node',
  ],
  [
    'creates no Lease in another namespace',
    lease,
    { metadata: { name: 'n1' } },
    { namespace: 'kube-system' },
    'can only access leases in the "kube-node-lease" system namespace',
  ],
  ['writes its own CSINode', csiNode, { metadata: { name: 'n1' } }, {}, undefined],
  [
    'writes no other CSINode',
    csiNode,
    { metadata: { name: 'n2' } },
    {},
    'can only access CSINode with the same name as the requesting node',
  ],
  [
    'requests no token without the uid of its Pod',
    serviceAccount,
    token({ kind: 'Pod', apiVersion: 'v1', name: 'mine' }),
    tokens,
    'node requested token with a pod binding without a uid',
  ],
  [
    'requests no token for an earlier Pod with the same name',
    serviceAccount,
    token(ofPod('mine', 'earlier')),
    tokens,
    'the UID in the bound object reference (earlier) does not match the UID in record. The object might have been deleted and then recreated',
  ],
  [
    'requests no token bound to a Secret',
    serviceAccount,
    token({ kind: 'Secret', apiVersion: 'v1', name: 'mine', uid: 'uid-mine' }),
    tokens,
    'node requested token not bound to a pod',
  ],
  [
    'requests no token for two audiences',
    serviceAccount,
    token(ofPod('mine'), ['vault', 'bank']),
    tokens,
    'node may only request 0 or 1 audiences',
  ],
  [
    'creates no unparsable certificate request',
    certificateSigningRequest,
    { metadata: { name: 'r' }, spec: { signerName: 'kubernetes.io/kube-apiserver-client-kubelet', request: '' } },
    {},
    'unable to parse csr: PEM block type must be CERTIFICATE REQUEST',
  ],
  [
    'reports the size of a PVC',
    persistentVolumeClaim,
    claim({ capacity: { storage: '2Gi' } }),
    update(claim({}), { subresource: 'status' }),
    undefined,
  ],
  [
    'reports no other status of a PVC',
    persistentVolumeClaim,
    claim({ phase: 'Bound' }),
    update(claim({}), { subresource: 'status' }),
    'node "n1" is not allowed to update fields other than status.quantity and status.conditions',
  ],
  [
    'does not change the spec of a PVC through its status',
    persistentVolumeClaim,
    { ...claim({}), spec: { volumeName: 'other' } },
    update(claim({}), { subresource: 'status' }),
    'node "n1" is not allowed to update fields other than status.quantity and status.conditions',
  ],
];

for (const [name, kind, object, more, answer] of cases) {
  test(`a node ${name}`, async () => assert.equal(await denialOf(kind, object, more), answer));
}

test('a user who is no node is not restricted', async () => {
  assert.equal(await denialOf(node, { metadata: { name: 'n2' } }, {}, []), undefined);
});

test('a node user without a node name may not write', async () => {
  const attributes = writeOf(node, { metadata: { name: 'n1' } });
  const context = { ...attributes.context, user: { username: 'system:node:', groups: ['system:nodes'] } };
  assert.match(
    String(await admit(plugin, { ...attributes, context })),
    /could not determine node from user "system:node:"$/,
  );
});
