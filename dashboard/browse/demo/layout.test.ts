import { coveredControls, cutOff } from '../harness/layout';
import { expect, test } from '../harness/test';

test('the checks find what is cut off and covered', async ({ visit }) => {
  const page = await visit();
  await page.setContent(`
    <div style="width: 60px; overflow: hidden"><button style="width: 80px">Clipped</button></div>
    <div style="height: 40px; overflow: hidden"><p>Above</p><button>Below the edge</button></div>
    <div style="height: 40px; overflow: auto"><p>Above</p><button>Scrolled down to</button></div>
    <p style="width: 60px; overflow: hidden; white-space: nowrap">A text that is too long</p>
    <p style="width: 60px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis">A text with an ellipsis</p>
    <button style="position: absolute; left: calc(100% - 40px); width: 90px">Outside</button>
    <div style="position: relative"><button>Covered</button><div style="position: absolute; inset: 0"></div></div>
    <div style="width: 90px; overflow: auto"><button style="margin-left: 200px">Scrolled</button></div>
    <div role="dialog" style="width: 90px; overflow: auto"><b style="margin-left: 200px">In a dialog</b></div>`);
  const all = page.locator('html');
  expect(await cutOff(all)).toEqual([
    'control: Clipped',
    'control: Below the edge',
    'control: Outside',
    'text: Clipped',
    'text: Below the edge',
    'text: A text that is too long',
    'text: Outside',
    'text: In a dialog',
  ]);
  expect(await cutOff(page.getByRole('dialog'))).toEqual(['text: In a dialog']);
  expect(await coveredControls(all)).toEqual(['<button>Covered</button>']);
});
