import { validatingAdmissionPolicy } from '@kruise/api/admissionregistration/validatingadmissionpolicy';
import { customResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import { builtinKinds } from '@kruise/api/builtin';
import {
  type DescribedKind,
  describeDefined,
  describeKind,
  type Kinds,
} from '@kruise/apiserver/admission/policy/type-checking';
import { type Controller, defineController } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import { apiVersionOf } from '@kruise/schema/kind';
import type { JsonSchema } from '@kruise/schema/structural';
import { decide } from './decide.ts';

/** ValidatingAdmissionPolicy status controller: reports type-checking warnings of the expressions of each policy. */
export const validatingAdmissionPolicyStatusController: Controller = defineController({
  name: 'validatingadmissionpolicy-status',
  for: validatingAdmissionPolicy,
  uses: [customResourceDefinition],
  observe(caches, key) {
    const policy = caches.of(validatingAdmissionPolicy).get(key);
    return policy && { policy, kinds: kindsIn(caches) };
  },
  decide,
});

function kindsIn(caches: Caches): Kinds {
  const defined = (
    isReferenced: (names: DescribedKind & { readonly plural: string }) => boolean,
  ): DescribedKind | undefined => {
    for (const { spec } of caches.of(customResourceDefinition).list()) {
      for (const { name: version, schema } of spec.versions) {
        const names = { group: spec.group, version, kind: spec.names.kind };
        // The API server has validated the schema.
        const described = describeDefined(names, (schema?.openAPIV3Schema ?? {}) as JsonSchema);
        if (isReferenced({ ...described, plural: spec.names.plural })) return described;
      }
    }
    return undefined;
  };
  return {
    ofResource(group, version, plural) {
      const known = builtinKinds.find(
        (each) => each.group === group && each.version === version && each.plural === plural,
      );
      if (known) return describeKind(known);
      return defined((each) => each.group === group && each.version === version && each.plural === plural);
    },
    ofKind(apiVersion, kind) {
      const known = builtinKinds.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
      return known ? describeKind(known) : defined((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
    },
  };
}
