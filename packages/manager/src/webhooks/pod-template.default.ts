/**
 * What the webhooks of workloads fill in in the templates of Pods and volume claims (cloneset.md §4.1). A template is
 * hashed as it is stored, so what is filled in is part of the hash: one default more would restart every Pod.
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
import type { FeatureGates } from '../feature-gates.ts';

const templates = codecOf(podTemplateSpec);
const claims = codecOf(persistentVolumeClaim.root);

/** A template as Go's types have it, with what was left out. Fields that nobody knows are gone. */
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
    // A container that is updated in place must not be served an older image of the same name.
    container.imagePullPolicy ||= 'Always';
    defaultContainerButGrpc(container);
  }
  defaultResourceList(spec.overhead);
  return templates.canonical(draft as PodTemplateSpec);
}

/** A template as Go's types write it, with nothing filled in. */
export function templateAsWritten(template: PodTemplateSpec): PodTemplateSpec {
  return templates.canonical(templates.fromJson(template));
}

/** A template of a volume claim, likewise. */
export function claimAsWritten(template: PersistentVolumeClaim): PersistentVolumeClaim {
  return claims.canonical(claims.fromJson(template));
}

/** A template of a volume claim with what was left out. */
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

/** Volumes of these sources are taken as they come. */
function isLeftAlone({ iscsi, rbd, azureDisk, scaleIO, ephemeral }: Volume): boolean {
  return Boolean(iscsi || rbd || azureDisk || scaleIO || ephemeral);
}
