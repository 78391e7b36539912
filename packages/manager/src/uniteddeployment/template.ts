/**
 * Workload templates in Go's encoding. The schema of the kind keeps most of the templates opaque. Revisions are hashed
 * in Go's encoding and found by that hash.
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
import type { ObjectNode, Typed } from '@kruise/schema/';
import { codecOf } from '@kruise/schema/codec';
import { memoizeByObject } from '@kruise/values/memoize';

const member = (spec: ObjectNode) =>
  s.pointer(s.object({ metadata: s.optional(objectMeta, ''), spec: s.required(spec, '') }), '');

/** Returns the spec schema of an OpenKruise workload, with typed Pod and volume claim templates. */
const withTypedTemplates = ({ fields }: ObjectNode) =>
  s.object({
    ...fields,
    template: s.required(podTemplateSpec, ''),
    volumeClaimTemplates: s.optional(s.list(persistentVolumeClaim.root), ''),
  });

const whole = s.object({
  statefulSetTemplate: member(builtinStatefulSetSpec),
  advancedStatefulSetTemplate: member(withTypedTemplates(statefulSetSpec)),
  cloneSetTemplate: member(withTypedTemplates(cloneSetSpecAsWritten)),
  deploymentTemplate: member(deploymentSpec),
});

// The schema has the fields of the kind's template, with more detail. Decode errors must name the path in the whole
// object.
type Templated = { readonly spec: { readonly template: SubsetTemplate } };
const objects = s.object({ spec: s.required(s.object({ template: s.required(whole, '') }), '') });
const templates = codecOf(objects as unknown as ObjectNode & Typed<Templated>);

/** Returns the template in Go's encoding; unknown fields are dropped. Throws `DecodeError`. */
export const wholeTemplate = memoizeByObject((template: SubsetTemplate): SubsetTemplate => {
  const { spec } = templates.canonical(templates.fromJson({ spec: { template } }));
  return spec.template;
});
