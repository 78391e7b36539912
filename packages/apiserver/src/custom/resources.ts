import { scale as scaleKind } from '@kruise/api/autoscaling/scale';
import { kind as kindOf } from '@kruise/api/meta/kind';
import type { TrackedKind } from '@kruise/machinery/server-side-apply/updater';
import { validate } from '@kruise/machinery/server-side-apply/validate';
import type { Kind } from '@kruise/schema/kind';
import { compareVersions } from '../discovery/priority.ts';
import type { ObjectStorage } from '../objects/object-storage.ts';
import type { Resource, Subresource } from '../resource.ts';
import { customColumns } from './columns.ts';
import { customConversion } from './conversion.ts';
import { type Converter, versionRename } from './converter.ts';
import { type Definition, hasCondition, storageVersionOf } from './definition.ts';
import { customScale, replicasPathsOf } from './scale.ts';
import { customSelectableFields } from './selectable-fields.ts';
import { customSerializer } from './serializer.ts';
import { customStatusStrategy, customStrategy } from './strategy.ts';
import { type CustomVersion, findVersion, versionsOf } from './version.ts';

/** Verbs of custom resources, in the order of Kubernetes' discovery documents. */
const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const partVerbs = ['get', 'patch', 'update'];

/** Creates the resources of a definition by version, including versions that are not served. */
export function customResources(
  definition: Definition,
  storage: ObjectStorage,
  converter: Converter,
): ReadonlyMap<string, Resource> {
  const versions = versionsOf(definition);
  const stored = versions.get(storageVersionOf(definition))!;
  const namespaced = definition.spec.scope === 'Namespaced';
  const terminating = hasCondition(definition, 'Terminating');
  return new Map(
    Array.from(versions.values(), (version): [string, Resource] => {
      const kind = customKind(definition, version);
      const subresources = subresourcesOf(version, versions);
      const deprecation = deprecationOf(definition, version);
      const resource: Resource = {
        kind,
        custom: true,
        storage,
        serializer: customSerializer(version),
        conversion: customConversion(version, versions, stored, converter),
        strategy: customStrategy(version, namespaced),
        tracked: trackedKind(version, versions, converter),
        selectableFields: customSelectableFields(version.facts.selectableFields, namespaced),
        table: customColumns(version.facts.additionalPrinterColumns),
        subresources,
        published: {
          kind,
          custom: version.schema,
          subresources: [...subresources.keys()].map((name) => ({
            name,
            verbs: partVerbs,
            ...(name === 'scale' ? { kind: scaleKind } : {}),
          })),
        },
        ...(deprecation === undefined ? {} : { deprecation }),
        ...(terminating ? { terminating } : {}),
      };
      return [version.name, resource];
    }),
  );
}

function customKind({ spec, status }: Definition, { name, facts }: CustomVersion): Kind {
  const names = { ...spec.names, ...status?.acceptedNames };
  const { subresources } = facts;
  return {
    ...kindOf('', '', {
      group: spec.group,
      version: name,
      kind: names.kind,
      plural: names.plural,
      scope: spec.scope === 'Namespaced' ? 'Namespaced' : 'Cluster',
      shortNames: names.shortNames ?? [],
      categories: names.categories ?? [],
      verbs,
      subresources: (['status', 'scale'] as const).filter((each) => subresources?.[each] !== undefined),
      fields: {},
    }),
    singular: names.singular ?? names.kind.toLowerCase(),
    listKind: names.listKind ?? `${names.kind}List`,
  };
}

function subresourcesOf(
  version: CustomVersion,
  versions: ReadonlyMap<string, CustomVersion>,
): ReadonlyMap<string, Subresource> {
  const found = new Map<string, Subresource>();
  const { status, scale } = version.facts.subresources ?? {};
  if (status) found.set('status', { type: 'part', verbs: partVerbs, strategy: customStatusStrategy(version) });
  if (scale) found.set('scale', customScale(scale, version.apiVersion, replicasPathsOf(versions.values())));
  return found;
}

function trackedKind(
  { apiVersion, kind, mergeType }: CustomVersion,
  versions: ReadonlyMap<string, CustomVersion>,
  converter: Converter,
): TrackedKind {
  const tracked = { apiVersion, kind, type: mergeType, empty: { apiVersion, kind } };
  if (converter !== versionRename) return tracked;
  return {
    ...tracked,
    convert(object, wanted) {
      const version = findVersion(versions, wanted);
      if (!version) return undefined;
      const converted = { ...object, apiVersion: wanted };
      // A field that a version does not have cannot be owned in that version.
      validate(converted, version.mergeType);
      return { object: converted, type: version.mergeType };
    },
  };
}

/** Returns the deprecation warning of a version: the text of the definition, or the version to use instead. */
function deprecationOf({ spec }: Definition, { apiVersion, name, facts }: CustomVersion): string | undefined {
  if (!facts.deprecated) return undefined;
  if (facts.deprecationWarning !== undefined) return facts.deprecationWarning;
  const { kind } = spec.names;
  const newer = spec.versions
    .filter((version) => version.served && !version.deprecated)
    .map((version) => version.name)
    .sort(compareVersions)
    .find((version) => compareVersions(version, name) < 0);
  const instead = newer === undefined ? '' : `; use ${spec.group}/${newer} ${kind}`;
  return `${apiVersion} ${kind} is deprecated${instead}`;
}
