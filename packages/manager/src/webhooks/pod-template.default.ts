/**
 * Defaults that the webhooks of workloads set in Pod and PVC templates. A template is hashed as it is stored, so its
 * defaults are part of the hash: an additional default would restart every Pod.
 */

import type { Container } from '@kruise/api/core/container';
import { defaultContainerButGrpc } from '@kruise/api/core/container.default';
import { type PersistentVolumeClaim, persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type PodTemplateSpec, podTemplateSpec } from '@kruise/api/core/pod-template';
import { defaultResourceList, defaultResources } from '@kruise/api/core/resources.default';
import type { Volume } from '@kruise/api/core/volume';
import { defaultVolume } from '@kruise/api/core/volume.default';
import { codecOf } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import type { FeatureGates } from '../configuration/feature-gates.ts';

const templates = codecOf(podTemplateSpec);
const claims = codecOf(persistentVolumeClaim.root);

/** Returns a template as Go's types decode it, with defaults and without unknown fields. */
export function withTemplateDefaults(template: PodTemplateSpec, gates: FeatureGates): PodTemplateSpec {
  const draft = templates.fromJson(template) as Draft<PodTemplateSpec>;
  const spec = (draft.spec ??= { containers: [] });
  spec.dnsPolicy ||= 'ClusterFirst';
  spec.restartPolicy ||= 'Always';
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ||= 'default-scheduler';
  if (gates.DefaultHostNetworkHostPortsInPodTemplates && spec.hostNetwork) {
    for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) exposePorts(container);
  }
  for (const volume of spec.volumes ?? []) if (!isLeftAlone(volume)) defaultVolume(volume);
  for (const container of spec.initContainers ?? []) defaultContainerButGrpc(container);
  for (const container of spec.containers ?? []) {
    // An in-place update must not start an older image of the same name.
    container.imagePullPolicy ||= 'Always';
    defaultContainerButGrpc(container);
  }
  defaultResourceList(spec.overhead);
  return templates.canonical(draft as PodTemplateSpec);
}

/** Returns a template as Go's types write it, without defaults. */
export function templateAsWritten(template: PodTemplateSpec): PodTemplateSpec {
  return templates.canonical(templates.fromJson(template));
}

/** Returns a PVC template as Go's types write it, without defaults. */
export function claimAsWritten(template: PersistentVolumeClaim): PersistentVolumeClaim {
  return claims.canonical(claims.fromJson(template));
}

/** Returns a PVC template with defaults. */
export function withClaimDefaults(template: PersistentVolumeClaim): PersistentVolumeClaim {
  const draft = claims.fromJson(template) as Draft<PersistentVolumeClaim>;
  const status = (draft.status ??= {});
  status.phase ||= 'Pending';
  defaultResourceList(status.capacity);
  defaultResources(draft.spec?.resources);
  return claims.canonical(draft as PersistentVolumeClaim);
}

function exposePorts({ ports = [] }: Draft<Container>): void {
  for (const port of ports) port.hostPort ||= port.containerPort;
}

/** Reports whether a volume's source gets no defaults. */
function isLeftAlone({ iscsi, rbd, azureDisk, scaleIO, ephemeral }: Volume): boolean {
  return Boolean(iscsi || rbd || azureDisk || scaleIO || ephemeral);
}
