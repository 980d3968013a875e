// One sitting in Visual Studio Code with the extension and the real server: what was seen goes to standard output, as JSON.
// node sitting.mjs ADDRESS FOLDER BROWSER PICTURE
import { sit } from "./drive.mjs";

const [address, folder, browser, picture] = process.argv.slice(2);
const seen = {};
const seat = await sit(address, folder, "c.campaign", browser);
const { page } = seat;

async function looked() {
  // The fault, its colours, and what the mouse brings up.
  await page.locator(".squiggly-error").first().waitFor();
  await seat.until("hints", async () => (await seat.lines()).join("\n").includes("62 h free"));
  seen.lines = await seat.lines();
  seen.colours = {};
  for (const [kind, word] of [["keyword", "lot"], ["attribute", "question"], ["string", '"d"'], ["number", "1e-3"], ["brace", "}"]]) {
    seen.colours[kind] = await seat.colour(word);
  }
  seen.language = await page.locator("#status\\.editor\\.mode").innerText();
  seen.fault = await seat.hover("decison", "decision");
  seen.hover = await seat.hover("lot_3d", "47.14 USD");
  await page.mouse.move(5, 5);
  await seat.command("Problems: Focus on Problems View");
  const rows = page.locator(".markers-panel .monaco-list-row .marker-message-details-container");
  await rows.first().waitFor();
  seen.problems = await rows.allInnerTexts();
  await page.screenshot({ path: picture });
  await page.keyboard.press("Control+J");
  await page.locator(".markers-panel").waitFor({ state: "hidden" });
}

async function mended() {
  // The quick fix, from the menu of the light bulb.
  await seat.go(3, 40);
  await seat.until("the cursor's line", async () => (await page.locator("#status\\.editor\\.selection").innerText()).startsWith("Ln 3"));
  await page.keyboard.press("Control+.");
  const menu = page.locator(".action-widget .monaco-list-row.action");
  await menu.first().waitFor();
  seen.menu = await menu.allInnerTexts();
  await page.keyboard.press("Enter");
  await seat.until("the fix", async () => !(await seat.lines()).join("\n").includes("decison"));
  seen.fixed = await seat.save((text) => text.includes("decision"));
  await page.locator(".squiggly-error").first().waitFor({ state: "detached" });

  // Where a name is declared, and a new name for it, in both files.
  await seat.word("lot_3d").click();
  await page.keyboard.press("F12");
  await page.locator(".tab.active", { hasText: "catalog.campaign" }).waitFor();
  await seat.command("Go Back");
  await page.locator(".tab.active", { hasText: "c.campaign" }).filter({ hasNotText: "catalog" }).waitFor();
  await seat.word("lot_3d").click();
  await page.keyboard.press("F2");
  const box = page.locator(".rename-box input");
  await box.waitFor();
  await box.fill("three_days");
  await page.keyboard.press("Enter");
  await box.waitFor({ state: "hidden" });
  await seat.until("the new name", async () => (await seat.lines()).join("\n").includes("three_days"));
  seen.renamed = await seat.save((text) => text.includes("three_days"), "c.campaign", "File: Save All");
  seen.catalog = await seat.save((text) => text.includes("three_days"), "catalog.campaign");

  await seat.command("Format Document");
  await seat.until("the format", async () => (await seat.lines()).join("\n").includes("currency = USD"));
  seen.formatted = await seat.save((text) => text.includes("currency = USD"));
}

async function written() {
  // What is offered on a new line; then a fault that is mended by saving.
  await seat.go(4, 1);
  await page.keyboard.press("Control+Enter");
  await page.keyboard.press("Control+Space");
  const offers = page.locator(".suggest-widget.visible .monaco-list-row .label-name");
  await offers.first().waitFor();
  seen.offers = await offers.allInnerTexts();
  await seat.press("Escape", "Control+Shift+K");
  await seat.press("Control+End");
  await seat.type("run other { variant_of = control; chang = { lr = 2e-3 } }\n");
  await page.locator(".squiggly-error").first().waitFor();
  seen.saved = await seat.save((text) => text.includes("; change"));

  await page.keyboard.press("Control+Shift+O");
  const symbols = page.locator(".quick-input-list .monaco-list-row .label-name");
  await symbols.first().waitFor();
  seen.symbols = await symbols.allInnerTexts();
  await page.keyboard.press("Escape");

  // What stands ready where a block may begin: the server's blocks, and the extension's snippets.
  await page.keyboard.press("Control+End");
  await seat.type("wi");
  await page.keyboard.press("Control+Space");
  await offers.first().waitFor();
  seen.blocks = await offers.allInnerTexts();
  await seat.press("Escape", "Backspace", "Backspace");

  // A campaign in a page of Markdown has the grammar's colours.
  await page.keyboard.press("Control+P");
  await page.locator(".quick-input-widget input").fill("notes.md");
  await page.locator(".quick-input-list .monaco-list-row.focused", { hasText: "notes.md" }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".tab.active", { hasText: "notes.md" }).waitFor();
  await seat.until("a word in a fence", async () => (await seat.word("lot").count()) === 1);
  seen.fence = [await seat.colour("lot"), await seat.colour("10h"), await seat.colour("text")];
  await seat.command("Go Back");
  await page.locator(".tab.active", { hasText: "c.campaign" }).waitFor();
  await page.keyboard.press("Control+End");

  // The task of the extension's page: the matcher takes the faults of files that aren't open from what it prints.
  // A task that ends before the editor listens is run again.
  const matched = page.locator(".markers-panel .monaco-list-row", { hasText: "no attribute limt" });
  for (seen.runs = 1; seen.runs < 5; seen.runs += 1) {
    await seat.command("Tasks: Run Build Task");
    await page.waitForTimeout(2000);
    await seat.command("Problems: Focus on Problems View");
    if (await matched.first().waitFor({ timeout: 20000 }).then(() => true, () => false)) {
      break;
    }
  }
  seen.matched = await page.locator(".markers-panel .monaco-list-row .label-name", { hasText: "other.campaign" }).count();
  seen.task = await matched.first().innerText();
  await page.locator(".tab.active", { hasText: "c.campaign" }).click();
  await page.keyboard.press("Control+End");

  // A new server takes up the file where the old one left it.
  await seat.command("campc: Restart the Language Server");
  await seat.type("x");
  await page.locator(".squiggly-error").first().waitFor();
}

try {
  await looked();
  await mended();
  await written();
} catch (failure) {
  seen.failed = String(failure.stack);
  seen.lines = await seat.lines();
  await page.screenshot({ path: picture });
}
process.stdout.write(JSON.stringify(seen));
await seat.close();
