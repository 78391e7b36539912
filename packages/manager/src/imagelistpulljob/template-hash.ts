/**
 * Hash of the common template of a list's ImagePullJobs. The hash is a label on jobs that outlive the manager, or that
 * OpenKruise created. It is therefore bit-identical to OpenKruise's: the hash of the template in Go's print format.
 */
import type { ImageListPullJobSpec } from '@kruise/api/kruise/imagelistpulljob';
import type { ImagePullJobSpec } from '@kruise/api/kruise/imagepulljob';
import { fnv1a, safeEncode } from '@kruise/machinery/hash';
import { compareStrings } from '@kruise/values/go-syntax';
import type { IntOrString } from '@kruise/values/int-or-string';

/** Pull options of an image, without the image. */
export type PullTemplate = Omit<ImagePullJobSpec, 'image'>;

export function templateOf(spec: ImageListPullJobSpec | ImagePullJobSpec): PullTemplate {
  // Each spec has one of the two fields.
  const { images: _images, image: _image, ...template } = spec as ImageListPullJobSpec & ImagePullJobSpec;
  return template;
}

export function templateHash(spec: ImageListPullJobSpec): string {
  const text = `(v1beta1.ImagePullJobTemplate)${goTemplate(templateOf(spec))}`;
  return safeEncode(String(fnv1a(new TextEncoder().encode(text))));
}

const none = '<nil>';

function goTemplate(template: PullTemplate): string {
  const { pullSecrets, selector, podSelector, parallelism, pullPolicy, completionPolicy, sandboxConfig } = template;
  return goStruct(
    ['PullSecrets', '[]string', goList(pullSecrets)],
    [
      'Selector',
      '*v1beta1.ImagePullJobNodeSelector',
      selector && goStruct(['Names', '[]string', goList(selector.names)], goLabelSelector(selector)),
    ],
    ['PodSelector', '*v1beta1.ImagePullJobPodSelector', podSelector && goStruct(goLabelSelector(podSelector))],
    ['Parallelism', '*intstr.IntOrString', parallelism === undefined ? none : goIntOrString(parallelism)],
    [
      'PullPolicy',
      '*v1beta1.PullPolicy',
      pullPolicy &&
        goStruct(
          ['TimeoutSeconds', '*int32', pullPolicy.timeoutSeconds],
          ['BackoffLimit', '*int32', pullPolicy.backoffLimit],
        ),
    ],
    [
      'CompletionPolicy',
      'v1beta1.CompletionPolicy',
      goStruct(
        ['Type', 'v1beta1.CompletionPolicyType', completionPolicy.type ?? ''],
        ['ActiveDeadlineSeconds', '*int64', completionPolicy.activeDeadlineSeconds],
        ['TTLSecondsAfterFinished', '*int32', completionPolicy.ttlSecondsAfterFinished],
      ),
    ],
    [
      'SandboxConfig',
      '*v1beta1.SandboxConfig',
      sandboxConfig &&
        goStruct(
          ['Labels', 'map[string]string', goMap(sandboxConfig.labels)],
          ['Annotations', 'map[string]string', goMap(sandboxConfig.annotations)],
        ),
    ],
    ['ImagePullPolicy', 'v1beta1.ImagePullPolicy', template.imagePullPolicy ?? ''],
  );
}

type GoField = readonly [name: string, type: string, value: string | number | undefined];

function goStruct(...fields: readonly GoField[]): string {
  return `{${fields.map(([name, type, value]) => `${name}:(${type})${value ?? none}`).join(' ')}}`;
}

function goLabelSelector({ matchLabels, matchExpressions }: NonNullable<PullTemplate['podSelector']>): GoField {
  const expressions = matchExpressions?.map(({ key, operator, values }) =>
    goStruct(
      ['Key', 'string', key],
      ['Operator', 'v1.LabelSelectorOperator', operator],
      ['Values', '[]string', goList(values)],
    ),
  );
  return [
    'LabelSelector',
    'v1.LabelSelector',
    goStruct(
      ['MatchLabels', 'map[string]string', goMap(matchLabels)],
      ['MatchExpressions', '[]v1.LabelSelectorRequirement', goList(expressions)],
    ),
  ];
}

function goIntOrString(value: IntOrString): string {
  const isText = typeof value === 'string';
  return goStruct(
    ['Type', 'intstr.Type', isText ? 1 : 0],
    ['IntVal', 'int32', isText ? 0 : value],
    ['StrVal', 'string', isText ? value : ''],
  );
}

function goList(items: readonly string[] | undefined): string {
  return items ? `[${items.join(' ')}]` : none;
}

function goMap(map: { readonly [key: string]: string } | undefined): string {
  if (!map) return none;
  const entries = Object.entries(map).sort(([a], [b]) => compareStrings(a, b));
  return `map[${entries.map(([key, value]) => `${key}:${value}`).join(' ')}]`;
}
