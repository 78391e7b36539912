/**
 * Reference pages that are written from the sources: the flags of every command, the metrics of every component, and the
 * annotations, labels and other names that Kruise reads and writes on objects.
 *
 * `npm run docs:reference` writes them; `scripts/docs.test.ts` fails while they are out of date.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';

/** The generated pages, by path from the root of the repository. */
export async function referencePages(root: string): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/reference/flags.md', flagsPage(await readCommandLine())],
    ['docs/reference/metrics.md', metricsPage(readMetrics(root))],
    ['docs/reference/annotations-and-labels.md', annotationsPage(root)],
  ]);
}

const notice = '<!-- Written by `npm run docs:reference`. Change the sources, not this page. -->\n';

/** Loads the definition of the `kruise` command without running it. */
async function readCommandLine(): Promise<Command> {
  const { parseAsync } = Command.prototype;
  let program: Command | undefined;
  Command.prototype.parseAsync = async function (this: Command) {
    program = this;
    return this;
  };
  try {
    await import('../../packages/cli/src/main.ts');
  } finally {
    Command.prototype.parseAsync = parseAsync;
  }
  return program!;
}

function flagsPage(program: Command): string {
  const sections = commandsBelow(program).map(({ path, command }) => {
    const flags = command.options.filter(({ hidden }) => !hidden);
    const rows = flags.map(({ flags: flag, description, defaultValue }) =>
      row([
        `\`${flag}\``,
        description,
        defaultValue === undefined ? '' : `\`${defaultValue === '' ? '""' : defaultValue}\``,
      ]),
    );
    const parameters = command.registeredArguments.map((parameter) =>
      parameter.required ? `<${parameter.name()}>` : `[${parameter.name()}]`,
    );
    const usage = ['kruise', path, ...parameters, ...(flags.length > 0 ? ['[flags]'] : [])].join(' ');
    const table =
      flags.length === 0 ? '' : `\n| flag | description | default |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
    return `## kruise ${path}\n\n${command.description()}\n\n\`\`\`\n${usage}\n\`\`\`\n${table}`;
  });
  return `# Commands and flags\n\n${notice}
Every command and flag of \`kruise\`, as \`kruise COMMAND --help\` prints them. \`--feature-gates\` takes the
[feature gates](feature-gates.md).

${sections.join('\n')}`;
}

function commandsBelow(command: Command, parents: readonly string[] = []): { path: string; command: Command }[] {
  return command.commands.flatMap((child) => {
    const path = [...parents, child.name()];
    const own =
      child.commands.length > 0 && child.options.length === 0 ? [] : [{ path: path.join(' '), command: child }];
    return [...own, ...commandsBelow(child, path)];
  });
}

/** A metric as a source file declares it. */
type Metric = { readonly component: string; readonly name: string; readonly type: string; readonly help: string };

const components: readonly (readonly [prefix: string, component: string])[] = [
  ['packages/apiserver/', 'API server'],
  ['packages/controlplane/src/scheduler/', 'Scheduler'],
  ['packages/controlplane/', 'Controllers'],
  ['packages/client/src/controller/controller-metrics.ts', 'Controllers'],
  ['packages/client/src/server/webhook-server.ts', 'Webhooks'],
  ['packages/client/', 'Every process'],
  ['packages/manager/', 'kruise-manager'],
  ['packages/daemon/', 'kruise-daemon'],
  ['packages/network/src/cni/', 'kruise network'],
  ['packages/network/src/policy/', 'kruise network'],
  ['packages/network/src/proxy/', 'kube-proxy'],
  ['packages/node/', 'Kubelet'],
  ['packages/network/src/dns/', 'Cluster DNS'],
];

/** Finds the declarations of metrics: `registry.counter('name', 'help', …)`. */
function readMetrics(root: string): readonly Metric[] {
  const declaration = /\.(counter|gauge|histogram|summary)\(\s*'([a-z_:]+)',\s*('(?:[^'\\\n]|\\.)*'|"[^"\n]*")/g;
  return globSync('packages/*/src/**/*.ts', { cwd: root })
    .filter((file) => !/\.test\.ts$|\/testing\//.test(file))
    .sort()
    .flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(declaration)].map(([, type = '', name = '', help = '']) => ({
        component: components.find(([prefix]) => file.startsWith(prefix))?.[1] ?? file,
        name,
        type,
        help: help.slice(1, -1).replace(/\\(.)/g, '$1'),
      })),
    );
}

function metricsPage(metrics: readonly Metric[]): string {
  const sections = [...new Set(components.map(([, component]) => component))].flatMap((component) => {
    const own = metrics.filter((metric) => metric.component === component);
    const rows = own
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, type, help }) => row([`\`${name}\``, type, help]));
    return rows.length === 0
      ? []
      : [`## ${component}\n\n| metric | type | help |\n| --- | --- | --- |\n${rows.join('\n')}\n`];
  });
  return `# Metrics

${notice}
Every component serves these metrics at \`/metrics\`, as Prometheus text or OpenMetrics.
[Health and metrics](../how-to/run-a-cluster.md#health-and-metrics) lists the ports. Kubelets also serve the resource
metrics of nodes and Pods at \`/metrics/resource\` and \`/metrics/cadvisor\`, under cAdvisor's names; \`kubectl top\` reads
[resource metrics](../concepts/resource-metrics.md).

${sections.join('\n')}`;
}

/** Lists the exported constants of `well-known.ts` with their doc comments; line comments are its sections. */
function annotationsPage(root: string): string {
  const source = readFileSync(join(root, 'packages/api/src/kruise/well-known.ts'), 'utf8');
  const sections: { title: string; rows: string[] }[] = [];
  const entry = /^\/\/ (.+)$|^\/\*\* (.+?) \*\/\nexport const \w+ =\s*'([^']+)';$/gm;
  for (const [, title, description, key] of source.matchAll(entry)) {
    if (title !== undefined) sections.push({ title, rows: [] });
    else sections.at(-1)?.rows.push(row([`\`${key}\``, description!]));
  }
  const tables = sections
    .filter(({ rows }) => rows.length > 0)
    .map(({ title, rows }) => `## ${title}\n\n| name | meaning |\n| --- | --- |\n${rows.join('\n')}\n`);
  return `# Annotations, labels and environment variables

${notice}
Names that Kruise reads from objects and writes to them: annotations, labels, finalizers, conditions, environment variables
and API groups. \`"true"\` is the text. Annotations of simulated Pods (\`sim.kruise.io/…\`) are listed with the
[simulated runtime](simulated-runtime.md#annotations).

${tables.join('\n')}`;
}

function row(cells: readonly string[]): string {
  return `| ${cells
    .map((cell) =>
      cell
        .replace(/\|/g, '\\|')
        .replace(/</g, '&lt;')
        .replace(/`[^`]*`/g, (code) => code.replace(/&lt;/g, '<')),
    )
    .join(' | ')} |`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  for (const [file, text] of await referencePages(root)) writeFileSync(join(root, file), text);
}
