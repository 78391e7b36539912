import type { TokenRequest } from '@kruise/api/authentication/tokenrequest';
import type { CertificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import { type Node, node as nodeKind } from '@kruise/api/core/node';
import { persistentVolume } from '@kruise/api/core/persistentvolume';
import { type PersistentVolumeClaim, persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { csiDriver } from '@kruise/api/storage/csidriver';
import { isSame } from '@kruise/machinery/json-value';
import { notFound } from '@kruise/machinery/status';
import { readEncodedRequest } from '@kruise/machinery/x509/certificate';
import type { Authorizer } from '../../authorization/authorizer.ts';
import { nodeOf } from '../../authorization/node-authorizer.ts';
import { podReferences } from '../../authorization/pod-references.ts';
import { type AdmissionPlugin, type Attributes, forbiddenWrite } from '../admission.ts';
import type { Lookup } from '../lookup.ts';

const mirror = 'kubernetes.io/config.mirror';

/** NodeRestriction plugin: limits a kubelet to its own Node, Pods, Lease, tokens and certificates. */
export function nodeRestriction(lookup: Lookup, authorizer: Authorizer): AdmissionPlugin {
  const pods = lookup.of(podKind);
  const nodes = lookup.of(nodeKind);
  const claims = lookup.of(persistentVolumeClaim);
  const volumes = lookup.of(persistentVolume);
  const drivers = lookup.of(csiDriver);

  function existingPod(namespace: string, name: string): Pod {
    const found = pods.get(name, namespace);
    if (!found) throw notFound(podKind, name);
    return found;
  }

  function checkPod(node: string, attributes: Attributes): void {
    const { operation, subresource } = attributes;
    switch (subresource) {
      case '':
        if (operation === 'CREATE') checkMirror(node, attributes);
        else checkPodDeletion(node, attributes);
        break;
      case 'status':
        checkPodStatus(node, attributes);
        break;
      case 'eviction':
        checkEviction(node, attributes);
        break;
      default: {
        const named = JSON.stringify(subresource);
        throw forbiddenWrite(
          attributes,
          `unexpected pod subresource ${named}, only 'status' and 'eviction' are allowed`,
        );
      }
    }
  }

  function checkPodDeletion(node: string, attributes: Attributes): void {
    const { operation, namespace, name } = attributes;
    const username = JSON.stringify(node);
    if (operation !== 'DELETE') {
      const what = JSON.stringify(operation);
      throw forbiddenWrite(
        attributes,
        `unexpected operation ${what}, node ${username} can only create and delete mirror pods`,
      );
    }
    // deletecollection is admitted as a whole, then for each of its Pods.
    if (name === '' || existingPod(namespace, name).spec?.nodeName === node) return;
    throw forbiddenWrite(attributes, `node ${username} can only delete pods with spec.nodeName set to itself`);
  }

  function checkEviction(node: string, attributes: Attributes): void {
    const { operation, namespace, name, object } = attributes;
    if (operation !== 'CREATE') throw forbiddenWrite(attributes, `unexpected operation ${operation}`);
    if (existingPod(namespace, name || (object?.metadata.name ?? '')).spec?.nodeName === node) return;
    throw forbiddenWrite(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`);
  }

  function checkMirror(node: string, attributes: Attributes): void {
    const why = mirrorFault(node, attributes.object as unknown as Pod, () => {
      const found = nodes.get(node);
      if (!found) throw notFound(nodeKind, node);
      return found.metadata.uid ?? '';
    });
    if (why !== undefined) throw forbiddenWrite(attributes, why);
  }

  async function checkToken(node: string, attributes: Attributes): Promise<void> {
    const { operation, subresource, namespace } = attributes;
    if (operation !== 'CREATE' || subresource !== 'token') return;
    const { spec } = attributes.object as unknown as TokenRequest;
    const { kind, apiVersion, name = '', uid = '' } = spec.boundObjectRef ?? {};
    if (apiVersion !== 'v1' || kind !== 'Pod' || name === '') {
      throw forbiddenWrite(attributes, 'node requested token not bound to a pod');
    }
    if (uid === '') throw forbiddenWrite(attributes, 'node requested token with a pod binding without a uid');
    const pod = existingPod(namespace, name);
    if (pod.metadata.uid !== uid) {
      throw forbiddenWrite(
        attributes,
        `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
      );
    }
    if (pod.spec?.nodeName !== node) {
      throw forbiddenWrite(attributes, 'node requested token bound to a pod scheduled on a different node');
    }
    await checkAudience(attributes, pod, spec.audiences ?? []);
  }

  /** A kubelet may only request tokens for audiences that its Pods use. */
  async function checkAudience(attributes: Attributes, pod: Pod, audiences: readonly string[]): Promise<void> {
    const [audience = '', ...more] = audiences;
    if (more.length > 0) throw forbiddenWrite(attributes, 'node may only request 0 or 1 audiences');
    if (usesAudience(pod, audience)) return;
    const { user } = attributes.context;
    const { verdict } = await authorizer.authorize({
      user,
      verb: 'request-serviceaccounts-token-audience',
      resource: true,
      group: '',
      version: 'v1',
      plural: audience,
      subresource: '',
      namespace: attributes.namespace,
      name: attributes.name,
    });
    if (verdict === 'allow') return;
    throw forbiddenWrite(
      attributes,
      `audience ${JSON.stringify(audience)} not found in pod spec volume, ${user.username} is not authorized to request tokens for this audience`,
    );
  }

  function usesAudience({ metadata, spec }: Pod, audience: string): boolean {
    return (spec?.volumes ?? []).some((volume) => {
      const isProjected = volume.projected?.sources?.some(
        ({ serviceAccountToken }) => serviceAccountToken && (serviceAccountToken.audience ?? '') === audience,
      );
      if (isProjected) return true;
      const claim = volume.ephemeral ? `${metadata.name}-${volume.name}` : volume.persistentVolumeClaim?.claimName;
      const driver = volume.csi?.driver ?? (claim && driverOf(metadata.namespace ?? '', claim));
      const requests = driver ? (drivers.get(driver)?.spec?.tokenRequests ?? []) : [];
      return requests.some((request) => request.audience === audience);
    });
  }

  function driverOf(namespace: string, claim: string): string | undefined {
    const volume = claims.get(claim, namespace)?.spec?.volumeName;
    return volume ? volumes.get(volume)?.spec?.csi?.driver : undefined;
  }

  return {
    name: 'NodeRestriction',
    handles: ({ context, resource }) => restricted.has(idOf(resource)) && nodeOf(context.user) !== undefined,
    async mutate(attributes) {
      const { username } = attributes.context.user;
      const node = nodeOf(attributes.context.user);
      if (!node) throw forbiddenWrite(attributes, `could not determine node from user ${JSON.stringify(username)}`);
      switch (idOf(attributes.resource)) {
        case 'pods.':
          return checkPod(node, attributes);
        case 'nodes.':
          return checkNode(node, attributes);
        case 'persistentvolumeclaims.':
          return checkClaim(node, attributes);
        case 'serviceaccounts.':
          return checkToken(node, attributes);
        case 'leases.coordination.k8s.io':
          return checkLease(node, attributes);
        case 'csinodes.storage.k8s.io':
          return checkOwnName(node, attributes, 'CSINode');
        case 'certificatesigningrequests.certificates.k8s.io':
          return checkRequest(node, attributes);
      }
    },
  };
}

const restricted = new Set([
  'pods.',
  'nodes.',
  'persistentvolumeclaims.',
  'serviceaccounts.',
  'leases.coordination.k8s.io',
  'csinodes.storage.k8s.io',
  'certificatesigningrequests.certificates.k8s.io',
]);

function idOf({ kind }: Attributes['resource']): string {
  return `${kind.plural}.${kind.group}`;
}

/**
 * Returns the violation of a Pod that a kubelet creates. A kubelet may only create mirror Pods, and mirror Pods may not
 * reference API objects.
 */
function mirrorFault(node: string, pod: Pod, uidOfNode: () => string): string | undefined {
  const username = JSON.stringify(node);
  const { metadata, spec } = pod;
  if (metadata.annotations?.[mirror] === undefined) {
    return `pod does not have ${JSON.stringify(mirror)} annotation, node ${username} can only create mirror pods`;
  }
  if (spec?.nodeName !== node) return `node ${username} can only create pods with spec.nodeName set to itself`;
  const [owner, ...others] = metadata.ownerReferences ?? [];
  if (others.length > 0) return `node ${username} can only create pods with a single owner reference set to itself`;
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    return `node ${username} can only create pods with an owner reference set to itself`;
  }
  if (!owner.controller) return `node ${username} can only create pods with a controller owner reference set to itself`;
  if (owner.blockOwnerDeletion) return `node ${username} must not set blockOwnerDeletion on an owner reference`;
  const uid = uidOfNode();
  if (owner.uid !== uid) return `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`;

  const referred = new Set(Array.from(podReferences(pod), ([resource]) => resource));
  if (referred.has('serviceaccounts')) return `node ${username} can not create pods that reference a service account`;
  if (referred.has('secrets')) return `node ${username} can not create pods that reference secrets`;
  if (referred.has('configmaps')) return `node ${username} can not create pods that reference configmaps`;
  const volumes = spec.volumes ?? [];
  if (volumes.some(({ projected }) => projected?.sources?.some(({ clusterTrustBundle }) => clusterTrustBundle))) {
    return `node ${username} can not create pods that reference clustertrustbundles`;
  }
  if (volumes.some((volume) => volume.persistentVolumeClaim)) {
    return `node ${username} can not create pods that reference persistentvolumeclaims`;
  }
  return spec.resourceClaims?.length ? `node ${username} can not create pods that reference resourceclaims` : undefined;
}

function checkPodStatus(node: string, attributes: Attributes): void {
  const username = JSON.stringify(node);
  const { operation } = attributes;
  if (operation !== 'UPDATE') throw forbiddenWrite(attributes, `unexpected operation ${JSON.stringify(operation)}`);
  const [pod, old] = [attributes.object as unknown as Pod, attributes.oldObject as unknown as Pod];
  if (old.spec?.nodeName !== node) {
    throw forbiddenWrite(
      attributes,
      `node ${username} can only update pod status for pods with spec.nodeName set to itself`,
    );
  }
  if (!isSame(pod.metadata.labels ?? {}, old.metadata.labels ?? {})) {
    throw forbiddenWrite(attributes, `node ${username} cannot update labels through pod status`);
  }
  if (!isSame(pod.status?.resourceClaimStatuses ?? [], old.status?.resourceClaimStatuses ?? [])) {
    throw forbiddenWrite(attributes, `node ${username} cannot update resource claim statues`);
  }
}

function checkNode(node: string, attributes: Attributes): void {
  const username = JSON.stringify(node);
  const { operation } = attributes;
  const name = attributes.name || (attributes.object?.metadata.name ?? '');
  if (name !== node)
    throw forbiddenWrite(attributes, `node ${username} is not allowed to modify node ${JSON.stringify(name)}`);
  if (operation !== 'CREATE' && operation !== 'UPDATE') return;
  const written = attributes.object as unknown as Node;
  const old = attributes.oldObject as unknown as Node | undefined;
  const labels = forbiddenLabels(written.metadata.labels ?? {}, old?.metadata.labels ?? {}).join(', ');
  if (!old) {
    if (written.spec?.configSource) {
      throw forbiddenWrite(attributes, `node ${username} is not allowed to create pods with a non-nil configSource`);
    }
    if (labels !== '')
      throw forbiddenWrite(attributes, `node ${username} is not allowed to set the following labels: ${labels}`);
    return;
  }
  if (written.spec?.configSource && !isSame(written.spec.configSource, old.spec?.configSource)) {
    throw forbiddenWrite(
      attributes,
      `node ${username} is not allowed to update configSource to a new non-nil configSource`,
    );
  }
  if (!isSame(written.spec?.taints ?? [], old.spec?.taints ?? [])) {
    throw forbiddenWrite(attributes, `node ${username} is not allowed to modify taints`);
  }
  if (!isSame(written.metadata.ownerReferences ?? [], old.metadata.ownerReferences ?? [])) {
    throw forbiddenWrite(attributes, `node ${username} is not allowed to modify ownerReferences`);
  }
  if (labels !== '') throw forbiddenWrite(attributes, `is not allowed to modify labels: ${labels}`);
}

type Labels = { readonly [key: string]: string };

const kubeletLabels = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);

const isWithin = (domain: string, above: string) => domain === above || domain.endsWith(`.${above}`);

/** Returns the labels that a kubelet may not change: administrators isolate nodes by these labels. */
function forbiddenLabels(labels: Labels, before: Labels): readonly string[] {
  const keys = new Set([...Object.keys(labels), ...Object.keys(before)]);
  const changed = [...keys].filter((key) => labels[key] !== before[key]);
  return changed.filter((key) => !isKubeletLabel(key)).sort();
}

function isKubeletLabel(key: string): boolean {
  const domain = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
  if (isWithin(domain, 'node-restriction.kubernetes.io')) return false;
  const isOfKubernetes = isWithin(domain, 'kubernetes.io') || isWithin(domain, 'k8s.io');
  return (
    !isOfKubernetes ||
    kubeletLabels.has(key) ||
    isWithin(domain, 'kubelet.kubernetes.io') ||
    isWithin(domain, 'node.kubernetes.io')
  );
}

function checkClaim(node: string, attributes: Attributes): void {
  const { operation, subresource } = attributes;
  if (subresource !== 'status') throw forbiddenWrite(attributes, 'may only update PVC status');
  if (operation !== 'UPDATE') throw forbiddenWrite(attributes, `unexpected operation ${JSON.stringify(operation)}`);
  const core = (object: Attributes['object']) => {
    const { metadata, status, ...rest } = object as unknown as PersistentVolumeClaim;
    const { resourceVersion: _, managedFields: __, ...kept } = metadata;
    const { capacity, conditions, allocatedResources, allocatedResourceStatuses, ...state } = status ?? {};
    return { ...rest, metadata: kept, status: state };
  };
  if (isSame(core(attributes.object), core(attributes.oldObject))) return;
  throw forbiddenWrite(
    attributes,
    `node ${JSON.stringify(node)} is not allowed to update fields other than status.quantity and status.conditions`,
  );
}

function checkLease(node: string, attributes: Attributes): void {
  if (attributes.namespace !== 'kube-node-lease') {
    throw forbiddenWrite(attributes, 'can only access leases in the "kube-node-lease" system namespace');
  }
  checkOwnName(node, attributes, 'node lease');
}

function checkOwnName(node: string, attributes: Attributes, what: string): void {
  const { operation, name, object } = attributes;
  if ((operation === 'CREATE' ? object?.metadata.name : name) === node) return;
  throw forbiddenWrite(attributes, `can only access ${what} with the same name as the requesting node`);
}

const nodeSigners = ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'];

/** A kubelet may only request certificates for its own name. */
function checkRequest(node: string, attributes: Attributes): void {
  if (attributes.operation !== 'CREATE') return;
  const { spec } = attributes.object as unknown as CertificateSigningRequest;
  if (!nodeSigners.includes(spec.signerName)) return;
  let commonName: string;
  try {
    ({ commonName } = readEncodedRequest(spec.request).subject);
  } catch (error) {
    throw forbiddenWrite(attributes, `unable to parse csr: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (commonName !== `system:node:${node}`) {
    throw forbiddenWrite(attributes, `can only create a node CSR with CN=system:node:${node}`);
  }
}
