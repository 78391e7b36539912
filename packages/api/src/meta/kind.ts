import * as s from '@kruise/schema';
import { allVerbs, type Column, type Kind, type ScalePaths, type Scope } from '@kruise/schema/kind';
import { listMeta } from './list-meta.ts';
import { objectMeta } from './object-meta.ts';
import { typeMeta } from './type-meta.ts';

/** The declaration of a kind. Everything else follows Kubernetes' conventions. */
export type KindFacts<F extends s.Fields> = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: Scope;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly verbs?: readonly string[];
  readonly subresources?: readonly string[];
  readonly scale?: ScalePaths;
  readonly columns?: readonly Column[];
  /** All fields except kind, apiVersion and metadata, which every kind has. */
  readonly fields: F;
};

/** An object of a kind: its type and metadata, and the kind's own fields. */
export type KindObject<F extends s.Fields> = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: s.TypeOf<typeof objectMeta>;
} & s.FieldsType<F>;

/** Defines one version of a kind under its OpenAPI definition's name. */
export function kind<F extends s.Fields>(definition: string, doc: string, facts: KindFacts<F>): Kind<KindObject<F>> {
  const { fields, ...named } = facts;
  // The server sets kind, apiVersion and metadata, so readers always find them, although writers may omit them.
  const root = s.object(definition, doc, {
    ...typeMeta,
    metadata: s.optional(
      1,
      objectMeta,
      "Standard object's metadata: name, labels, owners and the other facts every object has.",
    ),
    ...fields,
  }) as s.ObjectNode & s.Typed<KindObject<F>>;
  return {
    listKind: `${facts.kind}List`,
    singular: facts.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    verbs: allVerbs,
    subresources: [],
    ...named,
    root,
    list: s.object(`${definition}List`, `A list of ${facts.kind} objects.`, {
      ...typeMeta,
      metadata: s.optional(1, listMeta, 'Metadata of the list: resourceVersion and continue token.'),
      items: s.required(2, s.list(root), `The ${facts.kind} objects.`),
    }),
  };
}
