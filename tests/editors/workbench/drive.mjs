// A person at the workbench: what they press, and what they see.
import { chromium } from "playwright-core";
import { readFile } from "node:fs/promises";

const OFFLINE = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];
const PATIENCE = 60000;

/** Opens a file of a folder in the workbench at an address; what is given back acts on it, and waits for what it shows. */
export async function sit(address, folder, file, browser, size = { width: 1200, height: 700 }) {
  const chrome = await chromium.launch({ executablePath: browser, args: OFFLINE });
  const page = await chrome.newPage({ viewport: size });
  page.setDefaultTimeout(PATIENCE);
  const opened = JSON.stringify([["openFile", `vscode-remote://${new URL(address).host}${folder}/${file}`]]);
  await page.goto(`${address}/?folder=${encodeURIComponent(folder)}&payload=${encodeURIComponent(opened)}`);
  await page.waitForSelector(".view-line");

  const seat = {
    page,
    press: (...keys) => keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve()),
    type: (text) => page.keyboard.type(text),

    /** Runs a command by the name that the palette shows. */
    async command(name) {
      await page.keyboard.press("F1");
      await page.locator(".quick-input-widget input").fill(`>${name}`);
      await page.locator(".quick-input-list .monaco-list-row.focused", { hasText: name }).waitFor();
      await page.keyboard.press("Enter");
      await page.locator(".quick-input-widget").waitFor({ state: "hidden" });
    },

    /** Puts the cursor at a line and column, as Ctrl+G does. */
    async go(line, column = 1) {
      await page.keyboard.press("Control+G");
      await page.locator(".quick-input-widget input").fill(`:${line}:${column}`);
      await page.keyboard.press("Enter");
      await page.locator(".quick-input-widget").waitFor({ state: "hidden" });
    },

    /** The part of a line that shows one word in one colour. */
    word: (text) => page.locator(".editor-instance .view-line span span").getByText(text, { exact: true }).first(),

    /** The colour of a word. */
    colour: (text) => seat.word(text).evaluate((element) => getComputedStyle(element).color),

    /** What the mouse brings up over a word, once it says something. */
    async hover(text, wanted) {
      const box = page.locator(".monaco-editor .monaco-hover:not(.hidden)", { hasText: wanted });
      for (let tries = 0; tries < 20; tries += 1) {
        await page.mouse.move(5, 5);
        await seat.word(text).hover();
        if (await box.waitFor({ timeout: 3000 }).then(() => true, () => false)) {
          return (await box.allInnerTexts()).join("\n");
        }
      }
      throw new Error(`nothing that says ${wanted} came up over ${text}`);
    },

    /** The lines as they are shown, hints among them. */
    async lines() {
      const shown = await page.locator(".editor-instance .view-line").evaluateAll((lines) =>
        lines.map((line) => [parseInt(line.style.top, 10), line.textContent.replaceAll("\u00a0", " ")]));
      return shown.sort((one, other) => one[0] - other[0]).map(([, text]) => text);
    },

    /** Waits until a question is answered with yes. */
    async until(what, question) {
      for (const end = Date.now() + PATIENCE; Date.now() < end; await page.waitForTimeout(100)) {
        if (await question()) {
          return;
        }
      }
      throw new Error(`waited in vain for ${what}`);
    },

    /** Saves, and reads the file when it has come to hold what is asked of it. */
    async save(question, name = file, command = undefined) {
      await (command ? seat.command(command) : page.keyboard.press("Control+S"));
      let text = "";
      try {
        await seat.until(`the saved text of ${name}`, async () => question((text = await readFile(`${folder}/${name}`, "utf8"))));
      } catch (failure) {
        throw new Error(`${failure.message}: ${text}`);
      }
      return text;
    },

    close: () => chrome.close(),
  };
  return seat;
}
