// Generates the templates of the Helm chart that follow from the code: Kruise's CRDs, the RBAC rules of manager and
// daemon, and the webhooks. The other templates are written by hand.
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

/** Placeholders of template expressions. YAML would quote and fold them, so they are inserted into the written YAML. */
type Marks = {
  /** Returns the placeholder of a value. */
  value(expression: string): string;
  /** Returns the placeholder of lines that replace its line. */
  lines(...lines: readonly string[]): string;
  /** Inserts all expressions. */
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

/** Returns the generated files by their path in the chart. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const marks = createMarks();
  // All manifests have a kind.
  const manifests = manifestsFor(marks.value('.Values.installation.namespace')) as readonly Manifest[];
  // The caller knows the type of a kind.
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

/** With external certificates, annotations inject the CA bundle. */
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
  // Objects with rules are roles.
  const rules = (object as Role).rules.flatMap((rule) => ruleItems(marks, rule));
  return written(marks, { ...object, rules });
}

/** A value determines which objects may be listed, and a feature gate whether storage classes may be read. */
function ruleItems(marks: Marks, rule: Rule): readonly unknown[] {
  if (rule.resources.includes('storageclasses')) {
    return [marks.lines(`{{- if ${isOn('StatefulSetAutoResizePVCGate=true')} }}`), rule, marks.lines('{{- end }}')];
  }
  const isAny = rule.apiGroups.includes('*') && rule.resources.includes('*');
  return [isAny ? { ...rule, apiGroups: marks.value('toJson .Values.installation.roleListGroups') } : rule];
}

function webhooksTemplate(marks: Marks, { metadata, webhooks, ...configuration }: Configuration): string {
  const { name } = metadata;
  // The previous configuration that a manager has recorded is outdated with each release.
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

/** AKS manages some namespaces itself and must not be blocked. */
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
