"""What is open in each editor that is tried: a spec with a misspelt attribute and a line out of place, and the catalog that it uses."""

CATALOG = 'package lot_3d { gpu = "RTX 4090"; memory = 24GB; duration = 3d; price = 47.14 USD; source = "catalog" }\n'
SPEC = """use "catalog.campaign"
campaign c {
  question = "Does it 😀 help?"; decison = "d"
     currency=USD
}
lot box { package = lot_3d; starts = 2026-12-01 09:00 }
run control { script = "train.py"; params = { lr = 1e-3 }; metrics = [loss] }
tier essential {
  window control { kind = train; on = box; takes = 10h; run = control }
}
"""
