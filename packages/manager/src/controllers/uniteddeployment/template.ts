/**
 * Templates of workloads as Go's types have them. The kind keeps most of them without looking into them; their revisions
 * are hashed as Go would write them, and are found again by that hash (uniteddeployment.md §5.1).
 */
import { deploymentSpec } from '@kruise/api/apps/deployment';
import { statefulSetSpec as builtinStatefulSetSpec } from '@kruise/api/apps/statefulset';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { podTemplateSpec } from '@kruise/api/core/pod-template';
import { cloneSetSpecAsWritten } from '@kruise/api/kruise/cloneset';
import { statefulSetSpec } from '@kruise/api/kruise/statefulset';
import type { SubsetTemplate } from '@kruise/api/kruise/uniteddeployment';
import { objectMeta } from '@kruise/api/meta/object-meta';
import * as s from '@kruise/schema';
import { codecOf } from '@kruise/schema/codec';
import type { ObjectNode, Typed } from '@kruise/schema/language';
import { memoize } from '../../memoize.ts';

const member = (spec: ObjectNode) =>
  s.pointer(s.object({ metadata: s.optional(objectMeta, ''), spec: s.required(spec, '') }), '');

/** The spec of a workload of Kruise's, its templates of Pods and volume claims looked into. */
const lookedInto = ({ fields }: ObjectNode) =>
  s.object({
    ...fields,
    template: s.required(podTemplateSpec, ''),
    volumeClaimTemplates: s.optional(s.list(persistentVolumeClaim.root), ''),
  });

const whole = s.object({
  statefulSetTemplate: member(builtinStatefulSetSpec),
  advancedStatefulSetTemplate: member(lookedInto(statefulSetSpec)),
  cloneSetTemplate: member(lookedInto(cloneSetSpecAsWritten)),
  deploymentTemplate: member(deploymentSpec),
});

// It has the fields of the kind's own template, and says more of some of them. What is wrong is told of a whole object.
type Templated = { readonly spec: { readonly template: SubsetTemplate } };
const objects = s.object({ spec: s.required(s.object({ template: s.required(whole, '') }), '') });
const templates = codecOf(objects as unknown as ObjectNode & Typed<Templated>);

/** The template as Go's types write it; fields that nobody knows are gone. Throws `DecodeError`. */
export const wholeTemplate = memoize((template: SubsetTemplate): SubsetTemplate => {
  const { spec } = templates.canonical(templates.fromJson({ spec: { template } }));
  return spec.template;
});
