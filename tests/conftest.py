"""What all tests share: property tests judge behaviour, never the speed of the machine that they run on, and draw the same examples each time."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "campc",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("campc")
