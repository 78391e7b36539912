import type { Draft } from '@kruise/schema/draft';
import type { Container, EphemeralContainer } from './container.ts';
import type { PodSpec } from './pod-spec.ts';
import type { PodTemplateSpec } from './pod-template.ts';

type AnyContainer = Draft<Container> | Draft<EphemeralContainer>;

/**
 * Drops fields of features that Kubernetes v1.33 disables by default: Pod-level resources, resource claims, trust
 * bundles, image volumes, stop signals. An object that is stored with such a field keeps it.
 */
export function dropDisabledFields(spec: Draft<PodSpec>, old: PodSpec | undefined): void {
  if (old?.resources === undefined) delete spec.resources;
  if ((old?.resourceClaims ?? []).length === 0) dropResourceClaims(spec);
  if (!usesTrustBundle(old)) dropTrustBundles(spec);
  if (!(old?.volumes ?? []).some(({ image }) => image)) dropImageVolumes(spec);
  if (!usesStopSignal(old)) dropStopSignals(spec);
}

/** Drops the fields of disabled features from a template. */
export function dropDisabledTemplateFields(
  template: Draft<PodTemplateSpec> | undefined,
  old: PodTemplateSpec | undefined,
): void {
  if (template?.spec) dropDisabledFields(template.spec, old?.spec);
}

function* eachContainer(spec: Draft<PodSpec>): Generator<AnyContainer> {
  yield* spec.initContainers ?? [];
  yield* spec.containers ?? [];
  yield* spec.ephemeralContainers ?? [];
}

function dropResourceClaims(spec: Draft<PodSpec>): void {
  delete spec.resourceClaims;
  for (const { resources } of eachContainer(spec)) delete resources?.claims;
}

function usesTrustBundle(spec: PodSpec | undefined): boolean {
  const sources = (spec?.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  return sources.some(({ clusterTrustBundle }) => clusterTrustBundle);
}

function dropTrustBundles(spec: Draft<PodSpec>): void {
  for (const { projected } of spec.volumes ?? []) {
    for (const source of projected?.sources ?? []) delete source.clusterTrustBundle;
  }
}

function dropImageVolumes(spec: Draft<PodSpec>): void {
  const dropped = new Set((spec.volumes ?? []).filter(({ image }) => image).map(({ name }) => name));
  if (dropped.size === 0) return;
  spec.volumes = spec.volumes!.filter(({ image }) => !image);
  for (const container of eachContainer(spec)) {
    if (container.volumeMounts)
      container.volumeMounts = container.volumeMounts.filter(({ name }) => !dropped.has(name));
  }
}

function usesStopSignal(spec: PodSpec | undefined): boolean {
  const containers = [
    ...(spec?.initContainers ?? []),
    ...(spec?.containers ?? []),
    ...(spec?.ephemeralContainers ?? []),
  ];
  return containers.some(({ lifecycle }) => lifecycle?.stopSignal);
}

function dropStopSignals(spec: Draft<PodSpec>): void {
  for (const container of eachContainer(spec)) {
    if (container.lifecycle?.stopSignal === undefined) continue;
    delete container.lifecycle.stopSignal;
    if (Object.keys(container.lifecycle).length === 0) delete container.lifecycle;
  }
}
