import type { Draft } from '@kruise/schema/draft';
import type { ObjectMeta } from '../meta/object-meta.ts';
import { defaultContainer } from './container.default.ts';
import type { PodSpec } from './pod-spec.ts';
import type { PodTemplateSpec } from './pod-template.ts';
import { defaultResourceList, defaultResources } from './resources.default.ts';
import { defaultVolume } from './volume.default.ts';

/** Sets the defaults of Pods and Pod templates. Those of Pods only are in `pod.default.ts`. */
export function defaultPodSpec(spec: Draft<PodSpec>): void {
  spec.dnsPolicy ||= 'ClusterFirst';
  spec.restartPolicy ||= 'Always';
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ||= 'default-scheduler';
  mirrorServiceAccount(spec);
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
  for (const container of spec.initContainers ?? []) defaultContainer(container);
  for (const container of spec.containers ?? []) defaultContainer(container);
  for (const container of spec.ephemeralContainers ?? []) defaultContainer(container);
  defaultResourceList(spec.overhead);
  defaultResources(spec.resources);
}

export function defaultPodTemplate(template: Draft<PodTemplateSpec>): void {
  dropInitContainerAnnotations(template.metadata);
  defaultPodSpec((template.spec ??= { containers: [] }));
}

/** `serviceAccount` is the deprecated name of `serviceAccountName`. If both are set, the latter wins. */
function mirrorServiceAccount(spec: Draft<PodSpec>): void {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (!name) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

const initContainerAnnotations = [
  'pod.beta.kubernetes.io/init-containers',
  'pod.alpha.kubernetes.io/init-containers',
  'pod.beta.kubernetes.io/init-container-statuses',
  'pod.alpha.kubernetes.io/init-container-statuses',
];

/** Removes the former annotations of init containers, which are no longer read or stored. */
export function dropInitContainerAnnotations(metadata: Draft<ObjectMeta> | undefined): void {
  if (metadata?.annotations === undefined) return;
  for (const name of initContainerAnnotations) delete metadata.annotations[name];
}
