/** Marks comments, strings, keys and prompts of code in HTML: enough to read an example, and no language server. */

const patterns: { readonly [language: string]: RegExp } = {
  yaml: /(?<comment>(?<=^|\s)#.*)|(?<string>"[^"\n]*"|'[^'\n]*')|(?<key>[\w./-]+(?=:(?:\s|$)))/gm,
  shell: /(?<comment>(?<=^|\s)#.*)|(?<string>"[^"\n]*"|'[^'\n]*')/gm,
  console: /(?<prompt>^\$ .*)/gm,
  typescript:
    /(?<comment>\/\/.*|\/\*[\s\S]*?\*\/)|(?<string>"[^"\n]*"|'[^'\n]*'|`[^`]*`)|(?<key>\b(?:async|await|class|const|export|for|from|function|if|import|let|new|of|return|test|type|using|while)\b)/gm,
};

const aliases: { readonly [language: string]: string } = {
  ts: 'typescript',
  mjs: 'typescript',
  sh: 'shell',
  yml: 'yaml',
};

/** Returns the HTML of some code. */
export function highlight(code: string, language: string): string {
  const pattern = patterns[aliases[language] ?? language];
  if (pattern === undefined) return escapeHtml(code);
  let html = '';
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    const [name] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? [];
    html += `${escapeHtml(code.slice(end, match.index))}<span class="${name}">${escapeHtml(match[0])}</span>`;
    end = match.index + match[0].length;
  }
  return html + escapeHtml(code.slice(end));
}

function escapeHtml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
