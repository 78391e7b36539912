import * as s from '@kruise/schema';
import { containerPort } from '../core/container.ts';
import { execAction, httpGetAction, tcpSocketAction } from '../core/probe.ts';
import { kind } from '../meta/kind.ts';
import { ageColumn } from './columns.ts';
import { standardCondition } from './condition.ts';

const doc = 'ContainerRecreateRequest requests a restart of containers of a running Pod, without recreating the Pod.';

const phases = ['Pending', 'Recreating', 'Succeeded', 'Failed', 'Completed'] as const;
const failurePolicies = ['Fail', 'Ignore'] as const;

// The preStop hook of a container, without the sleep action.
const preStop = s.object({
  exec: s.pointer(execAction, 'A command to run in the container.'),
  httpGet: s.pointer(httpGetAction, 'A request to make to the container.'),
  tcpSocket: s.pointer(tcpSocketAction, 'TCP connection. Not supported.'),
});

const statusContext = s.object({
  containerID: s.required(s.string(), 'ID of the container to stop, with its runtime: containerd://…'),
  restartCount: s.required(s.int32(), 'Expected number of restarts of the container at that time.'),
});

const container = s.object({
  name: s.required(s.string(), 'Name of a container of the Pod that has been started; each once.'),
  preStop: s.pointer(preStop, 'Filled in from the Pod: the hook to run before the container stops.'),
  ports: s.optional(s.list(containerPort), 'Filled in from the Pod when the hook makes a request.'),
  statusContext: s.pointer(statusContext, 'State of the container when the request was created. Set from the Pod.'),
});
export type ContainerRecreateRequestContainer = s.TypeOf<typeof container>;

/** Returns the spec of a version. The versions differ in the values that the schema refuses. */
function specWith<N extends s.Node & s.Typed<'Fail' | 'Ignore'>>(limits: s.Constraints, failurePolicy: N) {
  const strategy = s.object({
    failurePolicy: s.optional(
      failurePolicy,
      'Policy if a container cannot be recreated: Fail (the default) stops, Ignore continues with the next container.',
    ),
    orderedRecreate: s.optional(s.boolean(), 'Wait for each container to be up before the next. Default false.'),
    forceRecreate: s.optional(
      s.boolean(),
      'Stops a container even if it has restarted since the request was created. Default false.',
    ),
    terminationGracePeriodSeconds: s.pointer(
      s.int64(limits),
      'Grace period of a container in seconds; 0 kills it at once. Default: the grace period of the Pod.',
    ),
    unreadyGracePeriodSeconds: s.pointer(
      s.int64(limits),
      'Seconds the Pod is made not ready before anything stops, so that traffic can drain. Unset: it is not.',
    ),
    minStartedSeconds: s.optional(
      s.int32(limits),
      'Seconds a new container must have run to count as recreated. Default 0.',
    ),
  });
  return s.object({
    podName: s.required(s.string(), 'Name of the Pod, in the same namespace.'),
    containers: s.required(s.list(container), 'The containers to recreate, in order; at least one.'),
    strategy: s.pointer(strategy, 'Strategy of recreating the containers.'),
    activeDeadlineSeconds: s.pointer(
      s.int64(limits),
      'Deadline in seconds since creation, after which unfinished containers have failed; at least 3. Unset: no limit.',
    ),
    ttlSecondsAfterFinished: s.pointer(
      s.int32(limits),
      'Time to live of a completed request in seconds. Unset: it is kept.',
    ),
  });
}

export const containerRecreateRequestSpec = specWith({ minimum: 0 }, s.enumeration(failurePolicies));
export type ContainerRecreateRequestSpec = s.TypeOf<typeof containerRecreateRequestSpec>;

function statusFieldsWith<N extends s.Node & s.Typed<(typeof phases)[number]>>(phase: N) {
  const containerState = s.object({
    name: s.required(s.string(), 'Name of the container.'),
    phase: s.required(phase, 'Pending, Recreating, Succeeded or Failed.'),
    message: s.optional(s.string(), 'Error message of the container.'),
    isKilled: s.optional(s.boolean(), 'The old container has been stopped.'),
  });
  return {
    phase: s.required(phase, 'Phase: Pending, Recreating or Completed. Completed does not imply success.'),
    completionTime: s.pointer(s.dateTime(), 'Time at which the request completed.'),
    message: s.optional(s.string(), 'Reason for an early end.'),
    containerRecreateStates: s.optional(
      s.list(containerState),
      'States of the containers, in the order of the specification.',
    ),
  };
}

const containerStatusSnapshot = s.object({
  name: s.required(s.string(), 'Name of the container.'),
  ready: s.required(s.boolean(), 'Readiness of the container in the status of the Pod.'),
  restartCount: s.required(s.int32(), 'Number of restarts.'),
  containerID: s.optional(s.string(), 'The ID of the container that runs now.'),
});

export const containerRecreateRequestStatus = s.object({
  ...statusFieldsWith(s.enumeration(phases)),
  containerStatusSnapshot: s.optional(
    s.list(containerStatusSnapshot),
    'The containers as the Pod last showed them, for the daemon on the node.',
  ),
  conditions: s.optional(
    s.listMap(standardCondition, ['type']),
    'PreRecreateGrace is True from when the Pod was made not ready.',
  ),
});
export type ContainerRecreateRequestStatus = s.TypeOf<typeof containerRecreateRequestStatus>;

const facts = {
  group: 'apps.kruise.io',
  kind: 'ContainerRecreateRequest',
  plural: 'containerrecreaterequests',
  scope: 'Namespaced',
  shortNames: ['crr'],
  subresources: ['status'],
  columns: [
    { name: 'PHASE', type: 'string', jsonPath: '.status.phase' },
    { name: 'POD', type: 'string', jsonPath: '.spec.podName' },
    { name: 'NODE', type: 'string', jsonPath: '.metadata.labels.crr\\.apps\\.kruise\\.io/node-name' },
    ageColumn,
  ],
} as const;

export const containerRecreateRequest = kind('io.kruise.apps.v1beta1.ContainerRecreateRequest', doc, {
  ...facts,
  version: 'v1beta1',
  fields: {
    spec: s.present(
      containerRecreateRequestSpec,
      'Specification: containers to recreate, and the strategy. Immutable.',
    ),
    status: s.optional(containerRecreateRequestStatus, 'Status: progress of each container.'),
  },
});
export type ContainerRecreateRequest = s.TypeOf<typeof containerRecreateRequest>;

export const containerRecreateRequestV1alpha1 = kind('io.kruise.apps.v1alpha1.ContainerRecreateRequest', doc, {
  ...facts,
  version: 'v1alpha1',
  fields: {
    spec: s.present(
      specWith({}, s.oneOf(failurePolicies)),
      'Specification: containers to recreate, and the strategy. Immutable.',
    ),
    status: s.optional(s.object(statusFieldsWith(s.oneOf(phases))), 'Status: progress of each container.'),
  },
});
export type ContainerRecreateRequestV1alpha1 = s.TypeOf<typeof containerRecreateRequestV1alpha1>;
