import { describe, expect, it } from 'vitest';
import { en } from './en';
import { zh } from './zh';

type Text = string | ((...values: number[]) => string);

/** All texts by their path, such as "keys.form.name". */
function textsOf(node: object, path: string[] = []): [path: string, text: Text][] {
  return Object.entries(node).flatMap(([name, value]) => {
    const own = [...path, name];
    return typeof value === 'object' && value !== null
      ? textsOf(value, own)
      : [[own.join('.'), value] as [string, Text]];
  });
}

// Numbers that no text contains. They also stand for texts.
const VALUES = [701, 702, 703];

function render(text: Text, values: unknown[] = VALUES): string {
  return typeof text === 'string' ? text : text(...(values as number[]));
}

/** Which values a text contains, in any order. */
function placeholders(text: Text): string[] {
  return (render(text).match(/70\d/g) ?? []).sort();
}

/** Words that are the same in Chinese. */
const NAME =
  /\b(API|Authorization|Base URL|CIDR|CSV|Cookie|GATEWAY|HTTPS?|ID|IP|JSON|Keymeter|LLM|LOG_SQL_DSN|Language|Node\.js|OpenAPI|PostgreSQL|Python|Secure|Token|UTF-8|Upgrade|WARN|accept|charges|curl|dashboard\.api_base_url|docs\/(errors|moving-in|operations)\.md|expire reservations|gpt-4o|groups|http\.secure_cookies|keep-roles|keymeter (backup|doctor)|keymeter --config FILE|keymeter prices set|keymeter prices show > prices\.json|keymeter user password|logs|models\.names|never|new-api|one-api|prices\.json|revive|usage\.retention_days)\b/g;
const ERROR_CODE = /\b[a-z]+(_[a-z]+)+\b/g;
/** Addresses, in no language. */
const EXAMPLES = ['keys.form.ipsExample'];

const isChinese = (text: string) => /\p{Script=Han}/u.test(text) || text.match(NAME) !== null;
const hasWords = (text: string) => /[A-Za-z]{2}/.test(text.replace(NAME, '').replace(ERROR_CODE, ''));

const english = new Map(textsOf(en));
const chinese = new Map(textsOf(zh));

/** The paths of Chinese texts that differ from what the rule allows. */
function violations(rule: (zh: Text, en: Text) => boolean): string[] {
  const each = [...english].filter(([path]) => !EXAMPLES.includes(path));
  return each
    .filter(([path, text]) => !rule(chinese.get(path) ?? '', text))
    .map(([path]) => `${path}: ${render(chinese.get(path) ?? '')}`);
}

describe('the Chinese texts', () => {
  it('are all there', () => {
    expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort());
  });

  it('are translated', () => {
    expect(violations((zh, en) => !hasWords(render(en)) || isChinese(render(zh)))).toEqual([]);
    expect(violations((zh) => !hasWords(render(zh)))).toEqual([]);
  });

  it('have the same placeholders', () => {
    expect(violations((zh, en) => String(placeholders(zh)) === String(placeholders(en)))).toEqual([]);
  });

  it('have Chinese punctuation, and a space beside Latin letters and digits', () => {
    const isTypeset = (text: string) =>
      !/\p{Script=Han}[A-Za-z0-9$,.;:!?()]|[A-Za-z0-9%]\p{Script=Han}/u.test(text);
    expect(violations((zh) => typeof zh !== 'string' || isTypeset(zh))).toEqual([]);
    // Values can begin with a digit, as times do.
    expect(violations((zh) => !/\p{Script=Han}70\d/u.test(render(zh)))).toEqual([]);
    expect(zh.usage.recent.sentence('余额', 2, '13 分钟前')).toContain('最近一次在 13 分钟前。');
    expect(zh.usage.recent.sentence('余额', 2, '刚刚')).toContain('最近一次在刚刚。');
  });
});

describe('the Chinese texts', () => {
  it.each([
    ['as they are', VALUES],
    ['with Chinese names', ['张三', '测试密钥', '生产环境']],
  ])('have no space between two Chinese characters, %s', (_, values) => {
    expect(
      violations(
        (zh) =>
          !/[\p{Script=Han}，。：；？！、（）“”] +[\p{Script=Han}，。：；？！、（）“”]/u.test(
            render(zh, values),
          ),
      ),
    ).toEqual([]);
  });

  it('keep the space between Chinese and Latin, and those of a name', () => {
    const { title } = zh.adminUsers.editDialog;
    expect([title('ana'), title('张三'), title('张 三')]).toEqual(['编辑 ana', '编辑张三', '编辑张 三']);
  });

  it.each([
    ['账户', /账号|帐户|帐号/],
    ['用完', /用尽|耗尽/],
    ['最近 7 天', /(?<!最)近 ?(\d|70\d)/],
    ['每日消费', /按日消费/],
    ['密钥', /(?<!访问)令牌/],
  ])('have one word for one thing: %s', (_, other) => {
    expect(violations((zh) => !other.test(render(zh)))).toEqual([]);
  });
});

describe.each([
  ['English', en.errors],
  ['Chinese', zh.errors],
])('in %s, the texts for failures', (_, errors) => {
  it('are sentences', () => {
    expect(Object.values(errors).filter((text) => !/[.。]$/.test(text))).toEqual([]);
  });
});
