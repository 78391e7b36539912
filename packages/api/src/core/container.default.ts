import type { Draft } from '@kruise/schema/draft';
import type { Container, EphemeralContainer } from './container.ts';
import { tagOf } from './image-reference.ts';
import type { HTTPGetAction, Probe } from './probe.ts';
import { defaultResources } from './resources.default.ts';
import type { ObjectFieldSelector } from './value-source.ts';

export function defaultContainer(container: Draft<Container> | Draft<EphemeralContainer>): void {
  defaultContainerButGrpc(container);
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
    if (probe?.grpc !== undefined) probe.grpc.service ??= '';
  }
}

/**
 * Sets the defaults of containers in the templates of Kruise's workloads, without those of gRPC probes: they came
 * later, and the template hashes must not change.
 */
export function defaultContainerButGrpc(container: Draft<Container> | Draft<EphemeralContainer>): void {
  container.imagePullPolicy ||= tagOf(container.image ?? '') === 'latest' ? 'Always' : 'IfNotPresent';
  container.terminationMessagePath ||= '/dev/termination-log';
  container.terminationMessagePolicy ||= 'File';
  for (const port of container.ports ?? []) port.protocol ||= 'TCP';
  for (const { valueFrom } of container.env ?? []) defaultFieldRef(valueFrom?.fieldRef);
  defaultResources(container.resources);
  defaultProbe(container.livenessProbe);
  defaultProbe(container.readinessProbe);
  defaultProbe(container.startupProbe);
  defaultHttpGet(container.lifecycle?.postStart?.httpGet);
  defaultHttpGet(container.lifecycle?.preStop?.httpGet);
}

export function defaultFieldRef(selector: Draft<ObjectFieldSelector> | undefined): void {
  if (selector !== undefined) selector.apiVersion ||= 'v1';
}

function defaultProbe(probe: Draft<Probe> | undefined): void {
  if (probe === undefined) return;
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  defaultHttpGet(probe.httpGet);
}

function defaultHttpGet(action: Draft<HTTPGetAction> | undefined): void {
  if (action === undefined) return;
  action.path ||= '/';
  action.scheme ||= 'HTTP';
}
