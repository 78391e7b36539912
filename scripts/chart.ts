// Writes those templates of the Helm chart that say what the code knows already: the definitions of Kruise's kinds, the
// rights of manager and daemon, and the webhooks. The others are written by hand.
//   node scripts/chart.ts
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { manifestsFor } from '@kruise/manager/bootstrap/manifests';
import { formatYaml } from '@kruise/schema/yaml-write';

const root = fileURLToPath(new URL('..', import.meta.url));
export const chartFolder = join(root, 'charts', 'kruise');

type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
};
type Definition = Manifest & { readonly spec: { readonly conversion: { readonly strategy: string } } };
type Rule = { readonly apiGroups: readonly string[]; readonly resources: readonly string[] };
type Role = Manifest & { readonly rules: readonly Rule[] };
type Webhook = {
  readonly clientConfig: { readonly service: { readonly path: string } };
  readonly namespaceSelector?: { readonly matchExpressions: readonly object[] };
};
type Configuration = Manifest & { readonly webhooks: readonly Webhook[] };

/** What Helm is to work out. YAML would quote and fold it, so it is put in when the YAML is written. */
type Marks = {
  /** A value. */
  value(expression: string): string;
  /** Lines in the place of the line it stands in. */
  lines(...lines: readonly string[]): string;
  /** Puts everything in. */
  fill(yaml: string): string;
};

function createMarks(): Marks {
  const texts: (string | readonly string[])[] = [];
  const mark = (text: string | readonly string[]) => `«${texts.push(text) - 1}»`;
  return {
    value: (expression) => mark(`{{ ${expression} }}`),
    lines: (...lines) => mark(lines),
    fill: (yaml) =>
      yaml.replace(/^( *)(.*)«(\d+)»(.*)$/gm, (_line, indent: string, before: string, index: string, after: string) => {
        const text = texts[Number(index)]!;
        if (typeof text === 'string') return `${indent}${before}${text}${after}`;
        return text.map((each) => `${indent}${each}`).join('\n');
      }),
  };
}

const isOn = (gate: string) => `contains "${gate}" .Values.featureGates`;

/** The files that are generated: what is in them by where they are in the chart. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const marks = createMarks();
  // All of them say what they are.
  const manifests = manifestsFor(marks.value('.Values.installation.namespace')) as readonly Manifest[];
  // Whoever asks for a kind knows what is in it.
  const ofKind = <T extends Manifest>(...kinds: readonly string[]) =>
    manifests.filter(({ kind }) => kinds.includes(kind)) as readonly Manifest[] as readonly T[];
  const definitions = ofKind<Definition>('CustomResourceDefinition');
  const rights = ofKind('ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding');
  const configurations = ofKind<Configuration>('MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration');
  const files: readonly (readonly [string, string])[] = [
    ...definitions.map(
      (definition) => [`templates/crds/${definition.metadata.name}.yaml`, crdTemplate(marks, definition)] as const,
    ),
    ['templates/rights.yaml', rights.map((each) => rightTemplate(marks, each)).join('---\n')],
    ['templates/webhooks.yaml', configurations.map((each) => webhooksTemplate(marks, each)).join('---\n')],
  ];
  return new Map(files.map(([path, text]) => [path, `{{- /* Written by scripts/chart.ts. */ -}}\n${text}`]));
}

function written(marks: Marks, object: object): string {
  return marks.fill(formatYaml(object));
}

function onlyIf(condition: string, text: string): string {
  return `{{- if ${condition} }}\n${text}{{- end }}\n`;
}

/** Whoever brings certificates from elsewhere has them put where they are needed by annotations. */
const injected = (...more: readonly string[]) => [
  '{{- with .Values.externalCerts.annotations }}',
  ...more,
  '{{- toYaml . | nindent 4 }}',
  '{{- end }}',
];

function crdTemplate(marks: Marks, { metadata, ...definition }: Definition): string {
  const isConverted = definition.spec.conversion.strategy === 'Webhook';
  const annotations = isConverted ? { [`annotations${marks.lines(...injected('annotations:'))}`]: '' } : {};
  return onlyIf('.Values.crds.managed', written(marks, { ...definition, metadata: { ...annotations, ...metadata } }));
}

function rightTemplate(marks: Marks, object: Manifest): string {
  if (object.metadata.name.startsWith('kruise-certs-')) {
    return onlyIf(`not (${isOn('EnableExternalCerts=true')})`, written(marks, object));
  }
  if (!('rules' in object)) return written(marks, object);
  // Whatever has rules is a role.
  const rules = (object as Role).rules.flatMap((rule) => ruleItems(marks, rule));
  return written(marks, { ...object, rules });
}

/** What may be listed is said by a value, and whether storage classes may be read by a gate. */
function ruleItems(marks: Marks, rule: Rule): readonly unknown[] {
  if (rule.resources.includes('storageclasses')) {
    return [marks.lines(`{{- if ${isOn('StatefulSetAutoResizePVCGate=true')} }}`), rule, marks.lines('{{- end }}')];
  }
  const isAny = rule.apiGroups.includes('*') && rule.resources.includes('*');
  return [isAny ? { ...rule, apiGroups: marks.value('toJson .Values.installation.roleListGroups') } : rule];
}

function webhooksTemplate(marks: Marks, { metadata, webhooks, ...configuration }: Configuration): string {
  const { name } = metadata;
  // What a manager has kept of the configuration before is out of date with each release.
  const annotations = { template: '', [`z${marks.lines(...injected())}`]: '' };
  const items = webhooks.flatMap((webhook) => webhookItems(marks, webhook));
  return written(marks, { ...configuration, metadata: { name, annotations }, webhooks: items });
}

const podPaths = ['/mutate-pod', '/validate-pod'];

function webhookItems(marks: Marks, webhook: Webhook): readonly unknown[] {
  const item = {
    ...webhook,
    timeoutSeconds: marks.value('.Values.webhookConfiguration.timeoutSeconds'),
    ...namespacesOf(marks, webhook),
  };
  if (!podPaths.includes(webhook.clientConfig.service.path)) return [item];
  return [marks.lines(`{{- if not (${isOn('PodWebhook=false')}) }}`), item, marks.lines('{{- end }}')];
}

/** Azure looks after some namespaces itself, and does not want to be stood in its way. */
function namespacesOf(marks: Marks, { namespaceSelector }: Webhook): object {
  const begin = '{{- if .Values.webhookConfiguration.aksIntegration }}';
  const include = '{{- include "kruise.outsideAzure" . | nindent 4 }}';
  if (!namespaceSelector) {
    const whole = marks.lines(begin, 'namespaceSelector:', '  matchExpressions:', include, '{{- end }}');
    return { [`namespaceSelector${whole}`]: '' };
  }
  const { matchExpressions } = namespaceSelector;
  return { namespaceSelector: { matchExpressions: [...matchExpressions, marks.lines(begin, include, '{{- end }}')] } };
}

if (import.meta.main) {
  for (const [path, text] of generatedFiles()) {
    const file = join(chartFolder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
