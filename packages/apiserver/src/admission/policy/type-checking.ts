/**
 * Type checking of the expressions of a policy, for the kinds that it matches. Evaluation compiles expressions against
 * untyped objects; only type checking uses the fields of a kind. The controller that writes `status.typeChecking` uses
 * this module.
 */
import type { Rule } from '@kruise/api/admissionregistration/rule';
import type {
  ExpressionWarning,
  ValidatingAdmissionPolicy,
} from '@kruise/api/admissionregistration/validatingadmissionpolicy';
import { objectMeta } from '@kruise/api/meta/object-meta';
import { compile } from '@kruise/cel/compile';
import { dynType, type Type } from '@kruise/cel/types';
import { structuralSchemaOf } from '@kruise/schema/crd';
import type { Kind } from '@kruise/schema/kind';
import type { JsonSchema } from '@kruise/schema/structural';
import { celType } from '@kruise/schema/structural/cel-type';
import { type Declarations, environmentOf } from '../expressions.ts';

/** Kind with the schema that expressions are checked against. */
export type DescribedKind = Pick<Kind, 'group' | 'version' | 'kind'> & { readonly schema: JsonSchema };

/** Finds kinds by the names that policies use. */
export type Kinds = {
  ofResource(group: string, version: string, plural: string): DescribedKind | undefined;
  ofKind(apiVersion: string, kind: string): DescribedKind | undefined;
};

/** Describes a built-in kind. */
export function describeKind({ group, version, kind, root }: Kind): DescribedKind {
  return { group, version, kind, schema: structuralSchemaOf(root) };
}

/**
 * Describes the kind of a CustomResourceDefinition. The schema of the definition does not contain the common object
 * fields.
 */
export function describeDefined(names: Pick<Kind, 'group' | 'version' | 'kind'>, schema: JsonSchema): DescribedKind {
  const text: JsonSchema = { type: 'string' };
  const common = { apiVersion: text, kind: text, metadata: structuralSchemaOf(objectMeta) };
  return { ...names, schema: { ...schema, properties: { ...schema.properties, ...common } } };
}

/** Maximum number of kinds to check. */
const maxKinds = 10;

/** Returns the warnings about the expressions of a policy, by field path. */
export function typeCheck({ spec }: ValidatingAdmissionPolicy, kinds: Kinds): readonly ExpressionWarning[] {
  const { validations = [], variables = [], matchConstraints, paramKind } = spec ?? {};
  const matchedKinds = kindsOf(matchConstraints?.resourceRules ?? [], kinds);
  const params = paramKind && kinds.ofKind(paramKind.apiVersion ?? '', paramKind.kind ?? '');
  const paramsType = params && typeOf(params);
  const checks = matchedKinds.map((kind) => {
    const base = {
      params: paramsType !== undefined,
      authorizer: true,
      objectType: typeOf(kind),
      ...(paramsType ? { paramsType } : {}),
    };
    return { kind, declarations: { ...base, variables: variableTypes(variables, base) } };
  });
  const warningOf = (expression: string): string =>
    checks
      .flatMap(({ kind, declarations }) => {
        const program = compile(environmentOf(declarations), expression);
        return program.ok ? [] : [`${formatKind(kind)}: ${program.message}\n`];
      })
      .join('\n');
  return validations.flatMap(({ expression, messageExpression }, index) =>
    [
      { fieldRef: `spec.validations[${index}].expression`, warning: warningOf(expression) },
      ...(messageExpression
        ? [{ fieldRef: `spec.validations[${index}].messageExpression`, warning: warningOf(messageExpression) }]
        : []),
    ].filter(({ warning }) => warning !== ''),
  );
}

function typeOf({ schema, kind }: DescribedKind): Type {
  return celType(schema, kind, false) ?? dynType;
}

function variableTypes(
  variables: readonly { readonly name: string; readonly expression: string }[],
  declarations: Declarations,
): ReadonlyMap<string, Type> {
  const types = new Map<string, Type>();
  for (const { name, expression } of variables) {
    const program = compile(environmentOf({ ...declarations, variables: types }), expression);
    types.set(name, program.ok ? program.type : dynType);
  }
  return types;
}

/** Returns the kinds that rules name without wildcards, in order. */
function kindsOf(rules: readonly Rule[], kinds: Kinds): readonly DescribedKind[] {
  const found = new Map<string, DescribedKind>();
  for (const { apiGroups = [], apiVersions = [], resources = [] } of rules) {
    if ([...apiGroups, ...apiVersions].some((each) => each.includes('*'))) continue;
    const named = resources.filter((each) => !/[*/]/.test(each));
    for (const group of apiGroups.toSorted()) {
      for (const version of apiVersions.toSorted()) {
        for (const plural of named.toSorted()) {
          const kind = kinds.ofResource(group, version, plural);
          if (kind && found.size < maxKinds) found.set(formatKind(kind), kind);
        }
      }
    }
  }
  return [...found.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, kind]) => kind);
}

function formatKind({ group, version, kind }: DescribedKind): string {
  return `${group}/${version}, Kind=${kind}`;
}
