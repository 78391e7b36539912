import * as s from '@kruise/schema';
import { labelSelector, labelSelectorRequirement } from '../meta/label-selector.ts';
import { completionPolicy } from './completion-policy.ts';

/** Image pull policy: pull always, or only if the image is not present. */
export const imagePullPolicy = s.oneOf(['Always', 'IfNotPresent']);
export type ImagePullPolicy = s.TypeOf<typeof imagePullPolicy>;

/** Metadata that is passed to the container runtime for an image pull. */
export const sandboxConfig = s.object({
  labels: s.optional(s.map(s.string()), 'Labels of the Pod sandbox.'),
  annotations: s.optional(s.map(s.string()), 'Annotations of the Pod sandbox.'),
});
export type SandboxConfig = s.TypeOf<typeof sandboxConfig>;

const pullPolicy = s.object({
  timeoutSeconds: s.pointer(s.int32(), 'Timeout of one attempt on a node in seconds. Default 600.'),
  backoffLimit: s.pointer(s.int32(), 'Number of retries after the first attempt. Default 3.'),
});

const nodeSelector = s.object(
  {
    names: s.optional(s.list(s.string()), 'Nodes by name. Not together with labels.'),
    matchLabels: s.optional(s.map(s.string()), 'Nodes that carry all of these labels.'),
    matchExpressions: s.optional(s.atomicList(labelSelectorRequirement), 'Nodes whose labels meet all of these.'),
  },
  { mapType: 'atomic' },
);

/** Fields that image pull jobs share. */
export const imagePullJobTemplate = {
  pullSecrets: s.optional(
    s.list(s.string()),
    'Names of Secrets in the namespace of the job with the credentials for the registry.',
  ),
  selector: s.pointer(nodeSelector, 'Selector of nodes, by name or by label. Unset, without podSelector: all nodes.'),
  podSelector: s.pointer(
    labelSelector,
    'Label selector of Pods in the namespace of the job, on whose nodes the images are pulled. Excludes selector.',
  ),
  parallelism: s.pointer(
    s.intOrString(),
    'Number of nodes that pull in parallel; a number, not a percentage. Default 1; 0 pauses the job.',
  ),
  pullPolicy: s.pointer(pullPolicy, 'Timeout and number of attempts on each node.'),
  completionPolicy: s.required(
    completionPolicy,
    'Completion of the job. Set by default; with type Never images are pulled again about once a day.',
  ),
  sandboxConfig: s.pointer(sandboxConfig, 'Passed to the container runtime with the image.'),
  imagePullPolicy: s.optional(
    imagePullPolicy,
    'Pull policy: IfNotPresent (the default) skips nodes that have the image; Always contacts the registry every time.',
  ),
};
